// What a notebook's view says about itself.
export const widgetWords = {
  en: {
    waiting: "Asking Python for the map…",
    late: "Python has not answered for a while: it is running a cell, or its kernel has ended. The view goes on as soon as it answers; if the kernel has ended, run the cell again.",
    gone: "The kernel behind this view has ended. What is drawn stays, but nothing more can be asked; run the cell again.",
    silent: "No Python answers here, so this is only a picture. Open the notebook with its kernel and run the cell: then you can zoom, point and read.",
    wheel: "Hold Ctrl, or click the map first, and the wheel zooms.",
  },
  cs: {
    waiting: "Ptáme se Pythonu na mapu…",
    late: "Python už chvíli neodpovídá: buď počítá jinou buňku, nebo jeho jádro skončilo. Jakmile odpoví, pohled pokračuje; pokud jádro skončilo, spusťte buňku znovu.",
    gone: "Jádro, které za tímto pohledem stálo, skončilo. Co je nakreslené, zůstane, ale na nic dalšího se zeptat nejde; spusťte buňku znovu.",
    silent: "Žádný Python tu neodpovídá, a tak je to jen obrázek. Otevřete sešit i s jádrem a spusťte buňku: pak půjde přibližovat, ukazovat a číst.",
    wheel: "Kolečko přibližuje, když držíte Ctrl nebo když na mapu nejdřív kliknete.",
  },
};

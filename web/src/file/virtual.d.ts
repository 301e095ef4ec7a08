/** `web/assembly/panel.ts`, compiled, in base64; the plugin beside it makes it. */
declare module "virtual:pozor-panel" {
  const code: string;
  export default code;
}

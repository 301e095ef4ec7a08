// Tiles as textures of floats; the colour of a value is decided in the shader, so a new scale needs no new data.
import {
  createBufferInfoFromArrays,
  createProgramInfo,
  createTexture,
  drawBufferInfo,
  setBuffersAndAttributes,
  setUniforms,
} from "twgl.js";
import { HIDDEN, OUTSIDE, VALUE, type Tile } from "../read/tile";
import { TILE } from "../scales/tileGrid";
import { fit } from "./fit";
import { GLYPHS } from "./glyphs";
import type { Paint, Painter, Placed, Rgb } from "./painter";
import { HAIR, HAIR_FROM, HATCH } from "./softPainting";

const VERTEX = `#version 300 es
in vec2 position;
uniform vec4 u_place; // x, y, side in clip space
out vec2 v_at;
void main() {
  v_at = position;
  gl_Position = vec4(u_place.xy + position * u_place.zw, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp usampler2D;
in vec2 v_at;
uniform sampler2D u_values;
uniform usampler2D u_states;
uniform sampler2D u_table;
uniform float u_low, u_high, u_power, u_pixel, u_hair, u_opacity;
uniform bool u_log, u_signed;
uniform vec2 u_corner;
uniform vec3 u_mask, u_maskLine, u_odd, u_onOdd, u_paper;
out vec4 color;
${GLYPHS}

float magnitude(float value) {
  if (u_log) return clamp(log(max(value, u_low) / u_low) / log(u_high / u_low), 0.0, 1.0);
  float share = clamp((value - u_low) / (u_high - u_low), 0.0, 1.0);
  return u_power == 1.0 ? share : pow(share, u_power);
}

vec3 coloured(float value) {
  float t = u_signed ? 0.5 + 0.5 * sign(value) * magnitude(abs(value)) : magnitude(value);
  return texelFetch(u_table, ivec2(int(t * 255.0 + 0.5), 0), 0).rgb;
}

void main() {
  vec2 at = v_at * ${TILE}.0;
  ivec2 cell = clamp(ivec2(at), ivec2(0), ivec2(${TILE - 1}));
  uint state = texelFetch(u_states, cell, 0).r;
  if (state == ${OUTSIDE}u) discard;
  vec2 inside = (at - vec2(cell)) * u_pixel; // CSS pixels from the cell's corner
  vec3 shade;
  if (state == ${HIDDEN}u) {
    vec2 far = u_corner + at * u_pixel;
    shade = mod(far.x + far.y + 0.5, ${HATCH}.0) < 1.0 ? u_maskLine : u_mask;
  } else if (state != ${VALUE}u) {
    shade = inGlyph(state, inside / u_pixel, u_pixel) ? u_onOdd : u_odd;
  } else {
    shade = coloured(texelFetch(u_values, cell, 0).r);
  }
  if (u_pixel >= ${HAIR_FROM}.0 && (inside.x < u_hair || inside.y < u_hair)) shade = mix(shade, u_paper, ${HAIR});
  color = vec4(shade * u_opacity, u_opacity);
}`;

export function webglPainter(lost: () => void): Painter | null {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, premultipliedAlpha: true });
  if (gl === null) return null;
  const program = createProgramInfo(gl, [VERTEX, FRAGMENT]);
  const quad = createBufferInfoFromArrays(gl, {
    position: { numComponents: 2, data: [0, 0, 1, 0, 0, 1, 1, 1] },
  });
  const textures = new Map<string, { values: WebGLTexture; states: WebGLTexture }>();
  let size = { width: 1, height: 1, ratio: 1 };
  let table: { of: Uint8Array; texture: WebGLTexture } | null = null;
  canvas.addEventListener("webglcontextlost", gone);
  function gone(event: Event): void {
    event.preventDefault();
    lost();
  }

  const still = { minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE, auto: false };

  function drop(name: string): void {
    const held = textures.get(name);
    if (held === undefined || gl === null) return;
    gl.deleteTexture(held.values);
    gl.deleteTexture(held.states);
    textures.delete(name);
  }

  function tableTexture(bytes: Uint8Array): WebGLTexture {
    if (gl === null) throw new Error("no context");
    if (table?.of !== bytes) {
      if (table !== null) gl.deleteTexture(table.texture);
      const texture = createTexture(gl, { src: bytes, width: 256, height: 1, ...still });
      table = { of: bytes, texture };
    }
    return table.texture;
  }

  return {
    canvas,
    kind: "webgl",
    upload(name: string, tile: Tile): void {
      drop(name);
      const shape = { width: TILE, height: TILE, ...still };
      const values = createTexture(gl, { ...shape, internalFormat: gl.R32F, format: gl.RED, type: gl.FLOAT, src: tile.values });
      const states = createTexture(gl, { ...shape, internalFormat: gl.R8UI, format: gl.RED_INTEGER, type: gl.UNSIGNED_BYTE, src: tile.states });
      textures.set(name, { values, states });
    },
    drop,
    resize(width, height, ratio): void {
      size = { width, height, ratio };
      fit(canvas, width, height, ratio);
    },
    draw(tiles: readonly Placed[], paint: Paint): void {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.useProgram(program.program);
      setBuffersAndAttributes(gl, program, quad);
      for (const tile of tiles) {
        const held = textures.get(tile.name);
        if (held === undefined) continue;
        const side = tile.pixel * TILE;
        setUniforms(program, {
          u_place: [
            (tile.x / size.width) * 2 - 1,
            1 - (tile.y / size.height) * 2,
            (side / size.width) * 2,
            (-side / size.height) * 2,
          ],
          u_values: held.values,
          u_states: held.states,
          u_table: tableTexture(paint.table),
          u_low: paint.range.low,
          u_high: paint.range.high,
          u_power: paint.range.transfer === "power" ? 1 / paint.range.root : 1,
          u_log: paint.range.transfer === "log",
          u_signed: paint.range.signed,
          u_pixel: tile.pixel,
          u_hair: 1 / size.ratio,
          u_opacity: tile.opacity,
          u_corner: tile.fromCorner.map((far) => far % HATCH),
          u_mask: unit(paint.mask),
          u_maskLine: unit(paint.maskLine),
          u_odd: unit(paint.odd),
          u_onOdd: unit(paint.onOdd),
          u_paper: unit(paint.paper),
        });
        drawBufferInfo(gl, quad, gl.TRIANGLE_STRIP);
      }
    },
    dispose(): void {
      canvas.removeEventListener("webglcontextlost", gone);
      for (const name of [...textures.keys()]) drop(name);
      gl.getExtension("WEBGL_lose_context")?.loseContext();
      canvas.remove();
    },
  };
}

function unit(color: Rgb): number[] {
  return color.map((part) => part / 255);
}

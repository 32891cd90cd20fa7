/**
 * Building blocks of WebAssembly modules.
 *
 * @see https://webassembly.github.io/spec/core/binary/modules.html
 */

/** The parts of the API in use: the types of Node do not declare it. */
interface WebAssemblyOfNode {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports?: object) => { readonly exports: unknown };
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number; readonly shared: true }) => {
    readonly buffer: SharedArrayBuffer;
  };
}

export const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyOfNode };

/** Bytes of a page. */
export const PAGE = 65_536;
export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;
export const get = (local: number): number[] => [0x20, ...unsigned(local)];
export const set = (local: number): number[] => [0x21, ...unsigned(local)];
export const i32Const = (value: number): number[] => [0x41, ...signed(value)];
export const end = 0x0b;

const loop = [0x03, 0x40];
const whenTrue = [0x04, 0x40];
const branch = 0x0c;

export function repeatWhile(condition: readonly number[], body: readonly number[]): number[] {
  return [...loop, ...condition, ...whenTrue, ...body, branch, 1, end, end];
}

/** Encodes a module of these sections. */
export function moduleOf(...sections: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
}

export function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

export function name(text: string): number[] {
  return [text.length, ...Buffer.from(text)];
}

/** LEB128. */
export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

export function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}

import { readFileSync } from 'node:fs';

/** Bytes of address space. */
interface AddressSpace {
  readonly limit: number;
  readonly used: number;
}

/** Returns the address space of this process where it has a limit (`ulimit -v`); undefined where it has none, or the system does not say. */
export function addressSpace(read = (path: string): string => readFileSync(path, 'utf8')): AddressSpace | undefined {
  try {
    const limit = /^Max address space\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1];
    const used = /^VmSize:\s+(\d+) kB/m.exec(read('/proc/self/status'))?.[1];
    return limit === undefined || used === undefined ? undefined : { limit: Number(limit), used: Number(used) * 1024 };
  } catch {
    return undefined;
  }
}

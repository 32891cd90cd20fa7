import { readFile, stat } from 'node:fs/promises';
import { cpus, freemem, loadavg, networkInterfaces, totalmem } from 'node:os';
import type { HostState } from '../administration/diagnostics.ts';

/** Reads counters of the machine. Those of `/proc` are absent on other systems than Linux. */
export async function readHostState(folder: string | undefined, host: string): Promise<HostState> {
  const [drive, network, memory] = await Promise.all([
    folder === undefined ? undefined : driveCounters(folder),
    networkCounters(host),
    readFile('/proc/meminfo', 'utf8').catch(() => ''),
  ]);
  const all = cpus();
  const cpuTimes = { user: 0, nice: 0, system: 0, idle: 0, irq: 0 };
  for (const { times } of all) {
    cpuTimes.user += times.user / 1_000;
    cpuTimes.nice += times.nice / 1_000;
    cpuTimes.system += times.sys / 1_000;
    cpuTimes.idle += times.idle / 1_000;
    cpuTimes.irq += times.irq / 1_000;
  }
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(memory)?.[1];
  return {
    ...(drive && { drive }),
    ...(network && { network }),
    memory: {
      total: totalmem(),
      free: freemem(),
      available: available === undefined ? freemem() : Number(available) * 1024,
    },
    cpus: all.length,
    load: loadavg(),
    cpuTimes,
  };
}

async function driveCounters(folder: string): Promise<readonly number[] | undefined> {
  try {
    const { dev } = await stat(folder, { bigint: true });
    const text = await readFile('/proc/diskstats', 'utf8');
    return diskCounters(text, deviceNumbers(dev));
  } catch {
    return undefined;
  }
}

/** Splits a device number of Linux into its major and minor number. */
export function deviceNumbers(device: bigint): readonly [major: number, minor: number] {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n);
  return [Number(major), Number(minor)];
}

/**
 * Returns the counters of a device, from the text of `/proc/diskstats`.
 *
 * @see https://docs.kernel.org/admin-guide/iostats.html
 */
export function diskCounters(text: string, [major, minor]: readonly [number, number]): readonly number[] | undefined {
  for (const line of text.split('\n')) {
    const [first, second, , ...counters] = line.trim().split(/\s+/);
    if (Number(first) === major && Number(second) === minor) return counters.map(Number);
  }
  return undefined;
}

async function networkCounters(host: string): Promise<HostState['network']> {
  const text = await readFile('/proc/net/dev', 'utf8').catch(() => '');
  const interfaces = networkInterfaces();
  const names = Object.keys(interfaces);
  // A server on all addresses uses the first interface that is not of this machine alone.
  const name =
    names.find((one) => interfaces[one]?.some(({ address }) => address === host)) ??
    names.find((one) => interfaces[one]?.some(({ internal }) => !internal)) ??
    names[0];
  const counters = name === undefined ? undefined : interfaceCounters(text, name);
  return name === undefined || counters === undefined ? undefined : { name, counters };
}

/** Returns the counters of an interface, from the text of `/proc/net/dev`: eight of reception, eight of transmission. */
export function interfaceCounters(text: string, name: string): readonly number[] | undefined {
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(':', 2);
    if (before.trim() === name) return after.trim().split(/\s+/).map(Number);
  }
  return undefined;
}

import { formatAddress } from '../../platform/listen.ts';
import {
  portOf,
  resolveContent as resolveContentWith,
  resolveText as resolveTextWith,
  type Symbols as WorkloadSymbols,
} from '../render/resolve.ts';
import type { FileContent, Port, Text, Workload } from '../workload.ts';

/** What the local runtime knows of symbols. */
export interface Symbols {
  /** As it was applied last, the one being resolved included. */
  workloads(name: string): Workload | undefined;
  mountPath(workload: string, mount: string): string;
  secret(name: string, key: string): string;
  certificate(name: string, part: 'certificate' | 'key' | 'ca'): Promise<string>;
}

export function resolveText(value: Text, workload: Workload, symbols: Symbols): string {
  return resolveTextWith(value, workload, symbolsOf(workload, symbols));
}

export function resolveContent(content: FileContent, workload: Workload, symbols: Symbols): Promise<string> {
  return resolveContentWith(content, workload, symbolsOf(workload, symbols));
}

/** Where others on this machine reach a port: one that listens everywhere is reached by loopback. */
export function reachedAt({ host, port }: Pick<Port, 'host' | 'port'>): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatAddress({ host: reached, port });
}

function symbolsOf(workload: Workload, symbols: Symbols): WorkloadSymbols {
  return {
    listen: formatAddress,
    address: (name, port) => {
      const other = symbols.workloads(name);
      if (other === undefined) throw new Error(`${workload.name} needs the address of ${name}, which is not there`);
      return reachedAt(portOf(other, port));
    },
    mountPath: (mount) => symbols.mountPath(workload.name, mount),
    secret: (name, key) => symbols.secret(name, key),
    certificate: (name, part) => symbols.certificate(name, part),
  };
}

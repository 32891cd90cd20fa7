import { stringify } from 'yaml';
import { formatAddress } from '../../platform/listen.ts';
import type { DocumentNode, FileContent, Port, SecretText, SymbolicPart, Text, Workload } from '../workload.ts';

/** What the local runtime knows of symbols. */
export interface Symbols {
  /** Every workload that was applied, the one being resolved included. */
  readonly workloads: ReadonlyMap<string, Workload>;
  mountPath(workload: string, mount: string): string;
  secret(name: string, key: string): string;
  certificate(name: string, part: 'certificate' | 'key' | 'ca'): Promise<string>;
}

export function resolveText(value: Text, workload: Workload, symbols: Symbols): string {
  return value.parts.map((part) => (typeof part === 'string' ? part : resolvePart(part, workload, symbols))).join('');
}

export async function resolveContent(content: FileContent, workload: Workload, symbols: Symbols): Promise<string> {
  switch (content.kind) {
    case 'text':
      return content.text;
    case 'secret':
      return symbols.secret(content.secret, content.key);
    case 'certificate':
      return symbols.certificate(content.certificate, content.part);
    case 'yaml':
      return stringify(resolveDocument(content.document, workload, symbols));
    default:
      return content satisfies never;
  }
}

/** Where others on this machine reach a port: one that listens everywhere is reached by loopback. */
export function reachedAt({ host, port }: Pick<Port, 'host' | 'port'>): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatAddress({ host: reached, port });
}

export function portOf(workload: Workload, name: string): Port {
  const port = workload.ports.find((candidate) => candidate.name === name);
  if (port === undefined) throw new Error(`the workload ${workload.name} has no port ${name}`);
  return port;
}

function resolvePart(part: SymbolicPart, workload: Workload, symbols: Symbols): string {
  switch (part.kind) {
    case 'listen':
      return formatAddress(portOf(workload, part.port));
    case 'address': {
      const other = symbols.workloads.get(part.workload);
      if (other === undefined)
        throw new Error(`${workload.name} needs the address of ${part.workload}, which is not there`);
      return reachedAt(portOf(other, part.port));
    }
    case 'mount': {
      const folder = symbols.mountPath(workload.name, part.mount);
      return part.path === undefined ? folder : `${folder}/${part.path}`;
    }
    default:
      return part satisfies never;
  }
}

function resolveDocument(node: DocumentNode, workload: Workload, symbols: Symbols): unknown {
  if (typeof node !== 'object') return node;
  if (isList(node)) return node.map((item) => resolveDocument(item, workload, symbols));
  if (isText(node)) return resolveText(node, workload, symbols);
  if (isSecret(node)) return symbols.secret(node.secret, node.key);
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, resolveDocument(value, workload, symbols)]),
  );
}

function isList(node: DocumentNode & object): node is readonly DocumentNode[] {
  return Array.isArray(node);
}

function isText(node: object): node is Text {
  return 'kind' in node && node.kind === 'text';
}

function isSecret(node: object): node is SecretText {
  return 'kind' in node && node.kind === 'secret';
}

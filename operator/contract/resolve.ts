import type {
  MountedFile,
  CertificatePart,
  DocumentNode,
  FileContent,
  Port,
  SecretText,
  SymbolicPart,
  Text,
  Workload,
} from './workload.ts';
import { stringify } from 'yaml';

/**
 * Reports whether a file is renewed even in a paused workload: a certificate or the value of a Secret that its program re-reads.
 * Configuration is not renewed: a paused program that ends must come back as it was.
 */
export function isRenewed({ content, reloads }: MountedFile): boolean {
  return reloads && (content.kind === 'certificate' || content.kind === 'secret');
}

/** Resolves the symbols of one workload. Each function errors for a symbol that does not exist. */
export interface Symbols {
  /** Returns HOST:PORT to listen on. */
  listen(port: Port): string;
  /** Returns HOST:PORT at which others reach the port of a workload. */
  address(workload: string, port: string): string;
  mountPath(mount: string): string;
  secret(name: string, key: string): string;
  certificate(name: string, part: CertificatePart): string | Promise<string>;
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

/** Errors for a port that the workload does not have. */
export function portOf(workload: Pick<Workload, 'name' | 'ports'>, name: string): Port {
  const port = workload.ports.find((candidate) => candidate.name === name);
  if (port === undefined) throw new Error(`the workload ${workload.name} has no port ${name}`);
  return port;
}

function resolvePart(part: SymbolicPart, workload: Workload, symbols: Symbols): string {
  switch (part.kind) {
    case 'listen':
      return symbols.listen(portOf(workload, part.port));
    case 'address':
      return symbols.address(part.workload, part.port);
    case 'mount': {
      const folder = symbols.mountPath(part.mount);
      return part.path === undefined ? folder : `${folder}/${part.path}`;
    }
    default:
      return part satisfies never;
  }
}

/** Returns a document as plain data. */
export function resolveDocument(node: DocumentNode, workload: Workload, symbols: Symbols): unknown {
  if (typeof node !== 'object') return node;
  if (isList(node)) return node.map((item) => resolveDocument(item, workload, symbols));
  if (isText(node)) return resolveText(node, workload, symbols);
  if (isSecret(node)) return literally(symbols.secret(node.secret, node.key));
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, resolveDocument(value, workload, symbols)]),
  );
}

/** Protects a secret that contains `${NAME}`, for which the key service would insert an environment variable. */
function literally(value: string): string {
  return value.replaceAll(/\$(?=\{[A-Za-z_]\w*\})/g, '$$$$');
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

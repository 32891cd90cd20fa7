import { yamlProblem } from '../../../platform/text/yaml.ts';
import { LineCounter, parseAllDocuments, type Document, type YAMLError } from 'yaml';
import type { CofferObject, ConfigMap } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import { validate } from '../../api/validate.ts';
import { resourceKinds } from '../../contract/workload.ts';

/** The content of one file. */
export interface ParsedFile {
  readonly objects: readonly CofferObject[];
  readonly secrets: readonly Secret[];
  readonly configMaps: readonly ConfigMap[];
  /** The refused objects, by `Kind/name`, with file, line and reason. */
  readonly invalid: ReadonlyMap<string, string>;
  /** Problems of the file's YAML itself. Then the rest of the file does not count. */
  readonly problems: readonly string[];
}

const limits = { bytes: 1_048_576, documents: 256 };

/**
 * Reads a manifest file with any number of YAML documents. `previous` answers the last valid object, for the rules on changes. Never
 * errors: problems are reported with `file:line`.
 */
export function readManifests(
  file: string,
  source: string,
  previous: (kind: string, name: string) => CofferObject | undefined,
): ParsedFile {
  const nothing = { objects: [], secrets: [], configMaps: [], invalid: new Map<string, string>() };
  if (Buffer.byteLength(source) > limits.bytes) return { ...nothing, problems: [`${file}: longer than 1 MiB`] };
  const lines = new LineCounter();
  const documents = parseAllDocuments(source, { lineCounter: lines, prettyErrors: false });
  if (!Array.isArray(documents)) return { ...nothing, problems: [] };
  if (documents.length > limits.documents) {
    return { ...nothing, problems: [`${file}: more than ${limits.documents} documents`] };
  }
  const errors = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (errors.length > 0) {
    return { ...nothing, problems: errors.map((error) => `${file}:${lineOf(error, lines)}: ${yamlProblem(error)}`) };
  }
  return collect(file, documents, lines, previous);
}

function collect(
  file: string,
  documents: readonly Document[],
  lines: LineCounter,
  previous: (kind: string, name: string) => CofferObject | undefined,
): ParsedFile {
  const objects: CofferObject[] = [];
  const secrets: Secret[] = [];
  const configMaps: ConfigMap[] = [];
  const invalid = new Map<string, string>();
  const problems: string[] = [];
  for (const document of documents) {
    const manifest = toValue(document);
    if (manifest === null || manifest === undefined) continue;
    const { kind, name } = headOf(manifest);
    const result = validate(manifest, previous(kind, name));
    if (result.kind === 'object') objects.push(result.object);
    else if (result.kind === 'secret') secrets.push(result.secret);
    else if (result.kind === 'config-map') configMaps.push(result.configMap);
    else {
      const message = result.problems
        .map((issue) => `${file}:${lineOfField(document, issue.field, lines)}: ${issue.field}: ${issue.message}`)
        .join('; ');
      if (kind === '' || name === '') problems.push(message);
      else invalid.set(`${kind}/${name}`, message);
    }
  }
  return { objects, secrets, configMaps, invalid, problems };
}

/** A document with too many aliases is a problem of that document only. */
function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

const kinds = new Set<string>([...resourceKinds, 'Secret', 'ConfigMap']);

function headOf(manifest: unknown): { kind: string; name: string } {
  const { kind, metadata } = Object(manifest) as { kind?: unknown; metadata?: unknown };
  const { name } = Object(metadata) as { name?: unknown };
  const known = typeof kind === 'string' && kinds.has(kind);
  return { kind: known ? kind : '', name: typeof name === 'string' && name.length <= 253 ? name : '' };
}

function lineOf(error: YAMLError, lines: LineCounter): number {
  return lines.linePos(error.pos[0]).line;
}

/** Returns the line of a field, or of the nearest written field around it. */
function lineOfField(document: Document, field: string, lines: LineCounter): number {
  const path = field.split('.');
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = (Object(node) as { range?: readonly number[] }).range;
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line;
  }
  return lines.linePos(document.range?.[0] ?? 0).line;
}

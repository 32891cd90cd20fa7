/** How the page shows an object. `view` is the content type that the server then answers with. */
export type PreviewKind =
  | { readonly kind: 'image' | 'audio' | 'video' | 'pdf'; readonly view: string }
  | { readonly kind: 'text' | 'json' | 'csv' | 'parquet' };

const viewed: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  pdf: 'application/pdf',
};

const textTypes =
  /^(?:text\/|application\/(?:javascript|typescript|x-sh|x-yaml|yaml|toml|xml|sql|x-python|graphql|x-httpd-php)\b|.*\+xml\b)/;
const textExtensions =
  /^(?:txt|md|log|ini|conf|cfg|env|toml|ya?ml|xml|html?|css|jsx?|mjs|cjs|tsx?|py|rb|go|rs|java|kt|c|h|cc|cpp|cs|php|pl|sh|bash|zsh|fish|ps1|bat|sql|tf|hcl|gradle|properties|dockerfile|makefile|gitignore|svg|tex|bib|srt|vtt)$/;

/**
 * Chooses the preview by the content type, or by the extension where the type says nothing. Undefined: there is none. HTML and SVG are
 * never documents of the page: HTML shows as text, SVG as an image, which runs no script.
 */
export function previewKind(key: string, contentType = ''): PreviewKind | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = key.slice(key.lastIndexOf('.') + 1).toLowerCase();
  if (type === 'application/vnd.apache.parquet' || extension === 'parquet') return { kind: 'parquet' };
  const says = type !== '' && type !== 'application/octet-stream' && type !== 'binary/octet-stream';
  if (says) {
    const known = Object.values(viewed).includes(type) ? type : aliases[type];
    if (known !== undefined) return mediaKind(known);
    if (type === 'application/json' || type.endsWith('+json') || type === 'application/x-ndjson')
      return { kind: 'json' };
    if (type === 'text/csv' || type === 'text/tab-separated-values') return { kind: 'csv' };
    if (textTypes.test(type)) return textKind(extension);
    return undefined;
  }
  const view = viewed[extension];
  if (view !== undefined) return mediaKind(view);
  return textExtensions.test(extension) || ['json', 'csv', 'tsv', 'ndjson'].includes(extension)
    ? textKind(extension)
    : undefined;
}

const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/mp4': 'audio/mp4',
  'audio/webm': 'audio/webm',
  'video/ogg': 'video/ogg',
};

function mediaKind(view: string): PreviewKind {
  if (view === 'application/pdf') return { kind: 'pdf', view };
  const kind = view.split('/', 1)[0];
  return { kind: kind === 'audio' || kind === 'video' ? kind : 'image', view };
}

function textKind(extension: string): PreviewKind {
  if (extension === 'json' || extension === 'ndjson') return { kind: 'json' };
  return { kind: extension === 'csv' || extension === 'tsv' ? 'csv' : 'text' };
}

/** Splits CSV, with quoted fields as RFC 4180 has them. The last record may be cut off. */
export function parseCsv(text: string, maxRows: number): readonly (readonly string[])[] {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  for (let at = 0; at < text.length && rows.length < maxRows; at += 1) {
    const character = text[at] ?? '';
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"' && field === '') quoted = true;
    else if (character === separator) {
      row.push(field);
      field = '';
    } else if (character === '\n') {
      row.push(field.replace(/\r$/, ''));
      rows.push(row);
      [row, field] = [[], ''];
    } else field += character;
  }
  if (rows.length < maxRows && (field !== '' || row.length > 0)) rows.push([...row, field]);
  return rows;
}

function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const counts = [',', ';', '\t'].map((one) => [one, line.split(one).length] as const);
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Indents JSON. Text that is not JSON, for example because it is cut off, stays as it is. */
export function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

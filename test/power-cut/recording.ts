/** One change below the recorded folder, as `recorder.c` wrote it. */
export type Change =
  | { readonly kind: 'open'; readonly fd: number; readonly path: string; readonly truncates: boolean }
  | {
      readonly kind: 'write';
      readonly fd: number;
      readonly offset: number;
      readonly bytes: Buffer;
      readonly durable: boolean;
    }
  | { readonly kind: 'truncate'; readonly fd: number; readonly length: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'mkdir'; readonly path: string }
  | { readonly kind: 'sync-begin'; readonly fd: number; readonly number: number }
  | { readonly kind: 'sync-end'; readonly number: number };

/** A change and where its record ends: what a client saw while the recording was that long came after it. */
export interface Recorded {
  readonly change: Change;
  readonly end: number;
}

const HEADER_BYTES = 24;
const FLAG_TRUNCATES = 1;
const FLAG_DURABLE = 2;

/** The changes in the order in which they took effect; a record cut off by the end of the process is left out. */
export function* changesOf(recording: Buffer): Iterable<Recorded> {
  let at = 0;
  while (at + HEADER_BYTES <= recording.length) {
    const pathLength = recording.readUInt16LE(at + 2);
    const dataLength = Number(recording.readBigUInt64LE(at + 16));
    const data = at + HEADER_BYTES + pathLength;
    const end = data + dataLength;
    if (end > recording.length) return;
    const path = recording.toString('utf8', at + HEADER_BYTES, data);
    yield { change: decode(recording.subarray(at, at + HEADER_BYTES), path, recording.subarray(data, end)), end };
    at = end;
  }
}

function decode(header: Buffer, path: string, bytes: Buffer): Change {
  const op = header.readUInt8(0);
  const flags = header.readUInt8(1);
  const fd = header.readInt32LE(4);
  const offset = Number(header.readBigUInt64LE(8));
  switch (op) {
    case 1:
      return { kind: 'open', fd, path, truncates: (flags & FLAG_TRUNCATES) !== 0 };
    case 2:
      return { kind: 'write', fd, offset, bytes, durable: (flags & FLAG_DURABLE) !== 0 };
    case 3:
      return { kind: 'truncate', fd, length: offset };
    case 4: {
      const [from = '', to = ''] = path.split('\0');
      return { kind: 'rename', from, to };
    }
    case 5:
      return { kind: 'unlink', path };
    case 6:
      return { kind: 'mkdir', path };
    case 7:
      return { kind: 'sync-begin', fd, number: offset };
    case 8:
      return { kind: 'sync-end', number: offset };
    case 9: {
      const [from = '', to = ''] = path.split('\0');
      return { kind: 'link', from, to };
    }
    default:
      throw new Error(`the recording has an operation ${op}: it is damaged`);
  }
}

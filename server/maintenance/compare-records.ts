import type { Entry, RecordStore } from '../store/record-store.ts';
import { copiedRecords, mustBeCopied } from './copied-records.ts';
import { shownKey } from './shown-key.ts';

/** In what the records of a copy differ from those of its source: nothing, unless somebody changed one of them meanwhile. */
export async function* compareRecords(source: RecordStore, copy: RecordStore): AsyncGenerator<string> {
  const [left, right] = [copiedRecords(source), copiedRecords(copy)];
  try {
    let [one, other] = [await next(left), await next(right)];
    while (one !== undefined || other !== undefined) {
      const order = one === undefined ? 1 : other === undefined ? -1 : one.key.compare(other.key);
      if (order < 0 && one !== undefined) {
        if (mustBeCopied(one.key)) yield `record ${shownKey(one.key)} is not in the copy`;
        one = await next(left);
      } else if (order > 0 && other !== undefined) {
        yield `record ${shownKey(other.key)} is in the copy, and not in the source any more`;
        other = await next(right);
      } else if (one !== undefined && other !== undefined) {
        if (!one.value.equals(other.value)) yield `record ${shownKey(one.key)} was changed since it was copied`;
        [one, other] = [await next(left), await next(right)];
      }
    }
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

async function next(records: AsyncGenerator<Entry>): Promise<Entry | undefined> {
  const { done, value } = await records.next();
  return done === true ? undefined : value;
}

import { writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { type Edited, type ElementField, ElementForm, numberField, textField } from '../text/element-form.ts';

type Mode = 'GOVERNANCE' | 'COMPLIANCE';

interface LockFields {
  /** The default retention of new versions: undefined for none. */
  readonly mode: Mode | undefined;
  readonly days: number | undefined;
  readonly years: number | undefined;
}

/** The object lock of a bucket. */
export type BucketLock = Edited<LockFields>;

const retention = ['Rule', 'DefaultRetention'];

const form = new ElementForm<LockFields>({
  mode: modeField(textField(...retention, 'Mode')),
  days: numberField(...retention, 'Days'),
  years: numberField(...retention, 'Years'),
});

function modeField(field: ElementField<string>): ElementField<Mode | undefined> {
  return {
    read: (element) => {
      const mode = field.read(element);
      return mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? mode : undefined;
    },
    write: (element, mode) => field.write(element, mode ?? ''),
    paths: field.paths,
  };
}

/** Reads an element `ObjectLockConfiguration`. */
export function bucketLockOf(root: XmlNode): BucketLock {
  return form.read(root);
}

/** The document of PutObjectLockConfiguration: that which was read, with what the user changed. */
export function objectLockDocument(lock: BucketLock): string {
  return writeEdited(form.write(lock));
}

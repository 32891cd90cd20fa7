import { elementAt, newElement, textAt, withAll, withText, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { type Edited, type ElementField, ElementForm } from '../text/element-form.ts';

interface LoggingFields {
  readonly bucket: string;
  readonly prefix: string;
  /** Empty: names without folders by date. */
  readonly partitionBy: string;
}

/** The place of the access logs of a bucket. */
export type Logging = Edited<LoggingFields>;

const form = new ElementForm<LoggingFields>({
  bucket: requiredField('TargetBucket'),
  prefix: requiredField('TargetPrefix'),
  partitionBy: {
    read: (element) => textAt(element, partition) ?? '',
    write: (element, source) => {
      const simple = newElement('SimplePrefix', '');
      const partitioned = newElement('PartitionedPrefix', [newElement('PartitionDateSource', source)]);
      const format = newElement('TargetObjectKeyFormat', [source === '' ? simple : partitioned]);
      return withAll(element, 'TargetObjectKeyFormat', [format]);
    },
    paths: ['TargetObjectKeyFormat/SimplePrefix', 'TargetObjectKeyFormat/PartitionedPrefix/PartitionDateSource'],
  },
});

const partition = ['TargetObjectKeyFormat', 'PartitionedPrefix', 'PartitionDateSource'];

/** S3 needs the element also where its text is empty. */
function requiredField(name: string): ElementField<string> {
  return {
    read: (element) => textAt(element, [name]) ?? '',
    write: (element, text) => withText(element, [name], text),
    paths: [name],
  };
}

/** Reads an element `BucketLoggingStatus`; null while no log is written. */
export function loggingOf(root: XmlNode): Logging | null {
  const enabled = elementAt(root, ['LoggingEnabled']);
  return enabled === undefined ? null : form.read(enabled);
}

/** The element that a form edits; an empty one while no log is written. */
export function elementOf(root: XmlNode | undefined): XmlNode {
  return (root && elementAt(root, ['LoggingEnabled'])) ?? newElement('LoggingEnabled', []);
}

/** The form of a bucket without logs, with a prefix that tells the bucket. */
export function emptyLogging(bucket: string): Logging {
  return { ...form.read(elementOf(undefined)), prefix: `${bucket}/` };
}

/** The parts of the document that the form has no field for. */
export function unknownOfLogging({ element }: Logging): readonly string[] {
  return form.unknown(element);
}

/** The document of PutBucketLogging: that which was read, with what the user changed. Null turns the log off. */
export function loggingDocument(logging: Logging | null): string {
  return writeEdited(newElement('BucketLoggingStatus', logging === null ? [] : [form.write(logging)]));
}

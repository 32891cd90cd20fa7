import { S3Error } from './s3-error.ts';
import { checkChildren, child, requiredText, textOf, malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

export type RetentionMode = 'GOVERNANCE' | 'COMPLIANCE';

export interface Retention {
  readonly mode: RetentionMode;
  readonly until: Date;
}

/** The default retention of a bucket has either days or years. */
export interface ObjectLockRule {
  readonly defaultRetention?: { readonly mode: RetentionMode; readonly days?: number; readonly years?: number };
}

/** Bytes. Each of the three documents has a few short elements. */
export const maxLockDocument = 4 * 1_024;

/** The longest default retention of S3. The retention that a request gives a version has no limit. */
const maxPeriod = { Days: 36_500, Years: 100 } as const;

/**
 * Reads an ObjectLockConfiguration.
 *
 * @throws S3Error MalformedXML, InvalidRetentionPeriod for a period that is not positive, InvalidArgument for one above 36,500 days or
 * 100 years, NotImplemented for an event hold
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLockConfiguration.html
 */
export function parseObjectLockConfiguration(body: string | Buffer): ObjectLockRule {
  const root = readXml(body, { maxBytes: maxLockDocument, maxElements: 100, root: 'ObjectLockConfiguration' });
  checkLockElements(root, ['ObjectLockEnabled', 'Rule']);
  if (requiredText(root, 'ObjectLockEnabled').trim() !== 'Enabled') throw malformed('"ObjectLockEnabled" is Enabled');
  const rule = child(root, 'Rule');
  if (rule === undefined) return {};
  checkLockElements(rule, ['DefaultRetention']);
  const retention = child(rule, 'DefaultRetention');
  if (retention === undefined) throw malformed('"Rule" lacks "DefaultRetention"');
  checkLockElements(retention, ['Mode', 'Days', 'Years']);
  const mode = modeOf(requiredText(retention, 'Mode'));
  const days = periodOf(retention, 'Days');
  const years = periodOf(retention, 'Years');
  if ((days === undefined) === (years === undefined))
    throw malformed('"DefaultRetention" has either "Days" or "Years"');
  return { defaultRetention: { mode, ...(days !== undefined && { days }), ...(years !== undefined && { years }) } };
}

function periodOf(retention: XmlNode, name: 'Days' | 'Years'): number | undefined {
  const text = textOf(retention, name)?.trim();
  if (text === undefined) return undefined;
  if (!/^-?\d{1,18}$/.test(text)) throw malformed(`"${name}" is a number`);
  const period = Number(text);
  const details = { ArgumentName: name, ArgumentValue: text };
  if (period <= 0) {
    throw new S3Error('InvalidRetentionPeriod', 'Default retention period must be a positive integer value.', {
      details,
    });
  }
  if (period <= maxPeriod[name]) return period;
  throw new S3Error('InvalidArgument', `Default retention period too large: at most ${maxPeriod[name]} ${name}.`, {
    details,
  });
}

/** Writes the document that GetObjectLockConfiguration answers. */
export function writeObjectLockConfiguration({ defaultRetention }: ObjectLockRule): string {
  const rule =
    defaultRetention &&
    element('Rule', [
      element('DefaultRetention', [
        element('Mode', defaultRetention.mode),
        defaultRetention.days === undefined ? undefined : element('Days', defaultRetention.days),
        defaultRetention.years === undefined ? undefined : element('Years', defaultRetention.years),
      ]),
    ]);
  return xmlDocument('ObjectLockConfiguration', [element('ObjectLockEnabled', 'Enabled'), rule]);
}

/**
 * Reads a Retention document. It is undefined for one without content, which removes a retention. It does not compare the date with a
 * clock.
 *
 * @throws S3Error MalformedXML, NotImplemented for an event hold
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectRetention.html
 */
export function parseRetention(body: string | Buffer): Retention | undefined {
  const root = readXml(body, { maxBytes: maxLockDocument, maxElements: 100, root: 'Retention' });
  checkLockElements(root, ['Mode', 'RetainUntilDate']);
  if (root.children.length === 0) return undefined;
  const mode = modeOf(requiredText(root, 'Mode'));
  const until = parseTimestamp(requiredText(root, 'RetainUntilDate').trim());
  if (until === undefined) throw malformed('"RetainUntilDate" is a date of ISO 8601 with its time zone');
  return { mode, until };
}

/** Writes the document that GetObjectRetention answers. */
export function writeRetention({ mode, until }: Retention): string {
  return xmlDocument('Retention', [element('Mode', mode), element('RetainUntilDate', until)]);
}

/**
 * Reads a LegalHold document: true for ON.
 *
 * @throws S3Error MalformedXML
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLegalHold.html
 */
export function parseLegalHold(body: string | Buffer): boolean {
  const root = readXml(body, { maxBytes: maxLockDocument, maxElements: 100, root: 'LegalHold' });
  checkLockElements(root, ['Status']);
  const status = requiredText(root, 'Status').trim();
  if (status !== 'ON' && status !== 'OFF') throw malformed('"Status" is ON or OFF');
  return status === 'ON';
}

/** Writes the document that GetObjectLegalHold answers. */
export function writeLegalHold(on: boolean): string {
  return xmlDocument('LegalHold', [element('Status', legalHoldStatus(on))]);
}

export function legalHoldStatus(on: boolean): 'ON' | 'OFF' {
  return on ? 'ON' : 'OFF';
}

const headerNames = {
  mode: 'x-amz-object-lock-mode',
  until: 'x-amz-object-lock-retain-until-date',
  legalHold: 'x-amz-object-lock-legal-hold',
} as const;

/** The values of the headers of a lock, as a client sent them. */
type LockHeaders = { readonly [Field in keyof typeof headerNames]: string | undefined };

/**
 * Reads the headers of a lock. It is undefined without any. It does not compare the date with a clock.
 *
 * @throws S3Error InvalidArgument with the text of AWS
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 */
export function parseLockHeaders({
  mode,
  until,
  legalHold,
}: LockHeaders): { readonly retention?: Retention; readonly legalHold?: boolean } | undefined {
  if (mode === undefined && until === undefined && legalHold === undefined) return undefined;
  if (legalHold !== undefined && legalHold !== 'ON' && legalHold !== 'OFF') {
    throw invalid('legalHold', legalHold, "Legal Hold must be either of 'ON' or 'OFF'");
  }
  const retention = mode === undefined && until === undefined ? undefined : retentionOf(mode, until);
  return { ...(retention && { retention }), ...(legalHold !== undefined && { legalHold: legalHold === 'ON' }) };
}

function retentionOf(mode: string | undefined, date: string | undefined): Retention {
  if (mode === undefined || date === undefined) {
    throw invalid(
      mode === undefined ? 'mode' : 'until',
      '',
      'x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied',
    );
  }
  if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE') throw invalid('mode', mode, 'Unknown wormMode directive.');
  const until = parseTimestamp(date);
  if (until === undefined) throw invalid('until', date, 'The retain until date must be provided in ISO 8601 format');
  return { mode, until };
}

/**
 * Refuses a retention that ends before `now` (milliseconds since 1970). `name` is the name of the header or
 * element.
 *
 * @throws S3Error InvalidArgument
 */
export function checkRetentionEnd(until: Date, now: number, name: string): void {
  const details = { ArgumentName: name, ArgumentValue: until.toISOString() };
  if (until.getTime() <= now) {
    throw new S3Error('InvalidArgument', 'The retain until date must be in the future!', { details });
  }
}

function invalid(field: keyof typeof headerNames, value: string, message: string): S3Error {
  const details = { ArgumentName: headerNames[field], ...(value !== '' && { ArgumentValue: value.slice(0, 100) }) };
  return new S3Error('InvalidArgument', message, { details });
}

const timestamp = /^(\d{4}-\d{2}-\d{2})T(\d{2}):\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Reads a timestamp of ISO 8601 with its time zone. Returns undefined for any other text, and for a date that no calendar has. */
function parseTimestamp(text: string): Date | undefined {
  const [, day, hour] = timestamp.exec(text) ?? [];
  const date = new Date(text);
  if (day === undefined || hour === undefined || hour === '24' || Number.isNaN(date.getTime())) return undefined;
  // The engine takes 30 February for 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? date : undefined;
}

function modeOf(text: string): RetentionMode {
  const mode = text.trim();
  if (mode === 'GOVERNANCE' || mode === 'COMPLIANCE') return mode;
  throw malformed('"Mode" is GOVERNANCE or COMPLIANCE');
}

function checkLockElements(node: XmlNode, names: readonly string[]): void {
  const hold = node.children.find(({ name }) => name.includes('EventHold'));
  if (hold !== undefined) {
    throw new S3Error('NotImplemented', `"${hold.name.slice(0, 64)}" is not implemented: objects have no event holds.`);
  }
  checkChildren(node, names);
}

import { invalidArgument } from './lifecycle-elements.ts';
import { type LifecycleRule, parseLifecycle, writeLifecycle } from './bucket-lifecycle.ts';

/** Header of a configuration of lifecycle rules. It says whether small objects move to tiers. */
export const transitionMinimumHeader = 'x-amz-transition-default-minimum-object-size';

const largeOnly = 'all_storage_classes_128K';
/** The default: tiers have no smallest object, unlike some classes of AWS. */
const everySize = 'varies_by_storage_class';
/** Bytes. */
const minimum = 128 * 1_024;

type TransitionMinimum = typeof largeOnly | typeof everySize;

/**
 * Reads the header of a request.
 *
 * @throws S3Error InvalidArgument
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
 */
export function parseTransitionMinimum(value: string = everySize): TransitionMinimum {
  if (value === everySize || value === largeOnly) return value;
  const message = `The minimum size of transitions is ${largeOnly} or ${everySize}.`;
  throw invalidArgument(message, transitionMinimumHeader, value);
}

export function withTransitionMinimum(
  rules: readonly LifecycleRule[],
  value: TransitionMinimum,
): readonly LifecycleRule[] {
  return value === everySize ? rules : rules.map((rule) => ({ ...rule, largeOnly: true }));
}

/**
 * Returns the value of the header for stored rules. Terraform waits until it reads the value that it wrote. Rules that move nothing may come
 * from another site, and count only where no other rule is.
 */
export function transitionMinimumOf(rules: readonly LifecycleRule[]): TransitionMinimum {
  const moving = rules.filter((rule) => (rule.transition ?? rule.noncurrentTransition) !== undefined);
  return (moving.length > 0 ? moving : rules).some((rule) => rule.largeOnly === true) ? largeOnly : everySize;
}

/** An XML reader skips the instruction. */
const instruction = new RegExp(String.raw`^(?:<\?xml [^?]*\?>)?\s*<\?${transitionMinimumHeader} ([^?]*)\?>`);

/**
 * Writes rules for an archive or another site. The value of the header is a processing instruction before the document: MinIO refuses
 * unknown elements.
 */
export function writeLifecycleCopy(rules: readonly LifecycleRule[]): string {
  const document = writeLifecycle(rules);
  const minimum = transitionMinimumOf(rules);
  if (minimum === everySize) return document;
  return document.replace('<LifecycleConfiguration', `<?${transitionMinimumHeader} ${minimum}?>\n$&`);
}

/**
 * Reads what `writeLifecycleCopy` wrote, or the document of another program.
 *
 * @throws S3Error MalformedXML, InvalidArgument and InvalidRequest
 */
export function parseLifecycleCopy(document: string | Buffer): readonly LifecycleRule[] {
  const rules = parseLifecycle(document);
  return withTransitionMinimum(rules, parseTransitionMinimum(instruction.exec(document.toString())?.[1]));
}

/** Reports if an object is too small for the transitions of a rule. As in AWS, a size in the filter replaces the minimum. */
export function isBelowTransitionMinimum(rule: Pick<LifecycleRule, 'largeOnly' | 'filter'>, size: number): boolean {
  const { greaterThan, lessThan } = rule.filter;
  return rule.largeOnly === true && size < minimum && greaterThan === undefined && lessThan === undefined;
}

import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header } from './request.ts';
import type { S3Call } from './operation.ts';
import { guardFamilies, guardsElsewhere, guardsOfWrites, requestTable, type Treatment } from './request-table.ts';

/** What is left to do for a name when a request comes; `undefined` for what the operation sees to itself. */
type Rule = Exclude<Treatment, { readonly kind: 'harmless' }> | undefined;

/**
 * Refuses what a request says and its operation does not honour, and checks what is checked alike for all operations. It looks up each
 * header once, in a table that is made at start.
 *
 * @throws S3Error by the table
 */
export function checkRequest(operation: string, call: S3Call): void {
  const rules = rulesOf(operation);
  const { headers } = call.request;
  for (const name of Object.keys(headers)) {
    // All others describe the message, or are read by the operation.
    if (!name.startsWith('x-') && !name.startsWith('if-')) continue;
    if (rules.has(name)) apply(rules.get(name), name, headers, call);
    else if (guardFamilies.test(name)) throw notKnown(name);
  }
  for (const [name, value] of call.query) {
    const row = `?${name}`;
    const rule = rules.get(row);
    if (rule !== undefined) applyTo(rule, row, value, call);
  }
}

const made = new Map<string, ReadonlyMap<string, Rule>>();

function rulesOf(operation: string): ReadonlyMap<string, Rule> {
  const known = made.get(operation);
  if (known !== undefined) return known;
  const rules = new Map<string, Rule>();
  const isRead = /^(?:Get|Head|List)/.test(operation);
  for (const rows of [guardsElsewhere, isRead ? {} : guardsOfWrites, requestTable[operation] ?? {}]) {
    for (const [name, treatment] of Object.entries(rows)) rules.set(name, ruleOf(treatment));
  }
  made.set(operation, rules);
  return rules;
}

function ruleOf(treatment: Treatment): Rule {
  if (treatment.kind === 'harmless') return undefined;
  return treatment.kind === 'honoured' && treatment.check === undefined ? undefined : treatment;
}

function apply(rule: Rule, name: string, headers: IncomingHttpHeaders, call: S3Call): void {
  if (rule !== undefined) applyTo(rule, name, header(headers, name) ?? '', call);
}

function applyTo(rule: NonNullable<Rule>, name: string, value: string, call: S3Call): void {
  if (rule.kind === 'honoured') {
    rule.check?.(value, call);
    return;
  }
  if (rule.except.includes(value.toLowerCase())) return;
  const argument = name.startsWith('?') ? name.slice(1) : name;
  throw new S3Error(rule.code, messageOf(name, argument, rule), { details: { ArgumentName: argument } });
}

/** In the words of AWS where there are any. The value is not repeated: it may be a key. */
function messageOf(name: string, argument: string, { code, why }: Extract<Rule, { readonly kind: 'refused' }>): string {
  if (name === '?versionId') return `This operation does not accept a version-id: ${why}.`;
  const what = name.startsWith('?') ? 'parameter' : 'header';
  return code === 'InvalidArgument'
    ? `${argument} ${what} is not supported for this operation: ${why}.`
    : `The ${what} ${argument} is not implemented: ${why}.`;
}

function notKnown(name: string): S3Error {
  return new S3Error('NotImplemented', `The header ${name.slice(0, 100)} is not implemented.`, {
    details: { ArgumentName: name.slice(0, 100) },
  });
}

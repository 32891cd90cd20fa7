import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header } from './request.ts';
import type { S3Call } from './operation.ts';
import { guardFamilies, guardsElsewhere, guardsOfWrites, requestTable, type Treatment } from './request-table.ts';

/** The check of a header or parameter; `undefined` when the operation itself reads it. */
type Rule = Exclude<Treatment, { readonly kind: 'harmless' }> | undefined;

/**
 * Refuses each header and parameter that the operation does not honour, and runs the checks that all operations share. It looks up each
 * header once, in a table that is made on the first request.
 *
 * @throws S3Error with the code of the table
 */
export function checkRequest(operation: string, call: S3Call): void {
  const rules = rulesOf(operation);
  const { headers } = call.request;
  for (const name of Object.keys(headers)) {
    // All other headers describe the message, or the operation reads them.
    if (!name.startsWith('x-') && !name.startsWith('if-')) continue;
    if (rules.has(name)) apply(rules.get(name), name, headers, call);
    else if (guardFamilies.test(name)) throw unknownHeader(name);
  }
  for (const [name, value] of call.query) {
    const row = `?${name}`;
    const rule = rules.get(row);
    if (rule !== undefined) applyTo(rule, row, value, call);
  }
}

const ruleCache = new Map<string, ReadonlyMap<string, Rule>>();

function rulesOf(operation: string): ReadonlyMap<string, Rule> {
  const known = ruleCache.get(operation);
  if (known !== undefined) return known;
  const rules = new Map<string, Rule>();
  const isRead = /^(?:Get|Head|List)/.test(operation);
  for (const rows of [guardsElsewhere, isRead ? {} : guardsOfWrites, requestTable[operation] ?? {}]) {
    for (const [name, treatment] of Object.entries(rows)) rules.set(name, ruleOf(treatment));
  }
  ruleCache.set(operation, rules);
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

/** Uses the text of AWS if there is one. It does not repeat the value, which may be a key. */
function messageOf(name: string, argument: string, { code, why }: Extract<Rule, { readonly kind: 'refused' }>): string {
  if (name === '?versionId') return `This operation does not accept a version-id: ${why}.`;
  const what = name.startsWith('?') ? 'parameter' : 'header';
  return code === 'InvalidArgument'
    ? `${argument} ${what} is not supported for this operation: ${why}.`
    : `The ${what} ${argument} is not implemented: ${why}.`;
}

function unknownHeader(name: string): S3Error {
  return new S3Error('NotImplemented', `The header ${name.slice(0, 100)} is not implemented.`, {
    details: { ArgumentName: name.slice(0, 100) },
  });
}

import { daysOf, keptOf, midnightOf, optional } from './lifecycle-elements.ts';
import { checkChildren, childrenOf, malformed, requiredText, textOf, type XmlNode } from '../xml-reader.ts';
import { element, type Xml } from '../xml-writer.ts';

/** When current versions move to the tier of this name. */
export type Transition =
  | { readonly days: number; readonly tier: string }
  /** Milliseconds since 1970, at midnight UTC. */
  | { readonly date: number; readonly tier: string };

/** Noncurrent versions move to a tier `days` after they became noncurrent, but the newest `keep` of a key stay. */
export interface NoncurrentTransition {
  readonly days: number;
  readonly keep?: number;
  readonly tier: string;
}

interface Transitions {
  readonly transition?: Transition;
  readonly noncurrentTransition?: NoncurrentTransition;
}

/** Reads the transitions of a rule. The object layer checks that their tiers exist. */
export function transitionsOf(rule: XmlNode): Transitions {
  const transition = transitionOf(onlyChild(rule, 'Transition'));
  const noncurrentTransition = noncurrentTransitionOf(onlyChild(rule, 'NoncurrentVersionTransition'));
  return { ...(transition && { transition }), ...(noncurrentTransition && { noncurrentTransition }) };
}

/** AWS moves objects through several classes. Here an object moves to one tier, as in MinIO. */
function onlyChild(rule: XmlNode, name: string): XmlNode | undefined {
  const [first, second] = childrenOf(rule, name);
  if (second !== undefined) throw malformed(`a rule has at most one "${name}"`);
  return first;
}

function transitionOf(node: XmlNode | undefined): Transition | undefined {
  if (node === undefined) return undefined;
  checkChildren(node, ['Days', 'Date', 'StorageClass']);
  const days = daysOf(node, 'Days', 'Transition', 0);
  const date = textOf(node, 'Date')?.trim();
  if (days !== undefined && date !== undefined) throw malformed('"Transition" has one of "Days" and "Date"');
  const tier = tierOf(node);
  // `mc ilm rule add --transition-days 0` sends neither.
  return date === undefined ? { days: days ?? 0, tier } : { date: midnightOf(date), tier };
}

function noncurrentTransitionOf(node: XmlNode | undefined): NoncurrentTransition | undefined {
  if (node === undefined) return undefined;
  checkChildren(node, ['NoncurrentDays', 'NewerNoncurrentVersions', 'StorageClass']);
  const days = daysOf(node, 'NoncurrentDays', 'NoncurrentVersionTransition', 0) ?? 0;
  const keep = keptOf(node, 'NoncurrentVersionTransition');
  return { days, ...(keep !== undefined && { keep }), tier: tierOf(node) };
}

function tierOf(node: XmlNode): string {
  const tier = requiredText(node, 'StorageClass').trim();
  if (tier !== '' && tier.length <= 255) return tier;
  throw malformed('"StorageClass" is the name of a tier');
}

/** Writes the transitions of a rule. */
export function writeTransitions({ transition, noncurrentTransition }: Transitions): readonly (Xml | undefined)[] {
  return [
    transition &&
      element('Transition', [
        'days' in transition
          ? element('Days', transition.days)
          : element('Date', new Date(transition.date).toISOString().replace('.000Z', 'Z')),
        element('StorageClass', transition.tier),
      ]),
    noncurrentTransition &&
      element('NoncurrentVersionTransition', [
        element('NoncurrentDays', noncurrentTransition.days),
        optional('NewerNoncurrentVersions', noncurrentTransition.keep),
        element('StorageClass', noncurrentTransition.tier),
      ]),
  ];
}

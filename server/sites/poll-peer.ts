import { siteAccount, type Site, type SiteGroup, type SiteState } from './site-state.ts';
import type { CallPeer } from './peer-client.ts';
import { digestAnswer, indexAnswer, itemsAnswer, maxItems } from './peer-messages.ts';
import { itemId, type ItemKind } from './site-items.ts';
import { fromRow, type Ledger, type LedgerEntry, wanted } from './site-ledger.ts';

/** The items that another site has and this one has not. */
interface PeerNews {
  readonly digest: string;
  readonly entries: readonly LedgerEntry[];
  /** The values of what this site wants, by the id of the item. */
  readonly values: ReadonlyMap<string, unknown>;
}

export type PollResult = { readonly group: SiteGroup | undefined; readonly news: PeerNews | undefined };

interface PollOptions {
  readonly call: CallPeer;
  readonly state: SiteState;
  readonly ledger: Ledger;
  readonly kinds: ReadonlySet<ItemKind>;
  readonly now: number;
  /** The digest of the ledger of the other site that this one has applied already. */
  readonly applied: string | undefined;
}

/** Asks another site for what changed there. Rejects with a `ResponseError`. */
export async function pollPeer(peer: Site, options: PollOptions): Promise<PollResult> {
  const { call, state, ledger, kinds, now } = options;
  const credentials = { accessKey: siteAccount, secretKey: state.secretKey };
  const { group, digest } = await call(peer, credentials, {
    method: 'GET',
    call: 'digest',
    sealed: 'answer',
    answer: digestAnswer,
  });
  // A site that left the group, or is in a newer one, is not asked for its items.
  if (group?.id !== state.id || digest === options.applied) return { group, news: undefined };
  const { items } = await call(peer, credentials, {
    method: 'GET',
    call: 'index',
    sealed: 'answer',
    answer: indexAnswer,
  });
  const entries = items.map(fromRow);
  const missing = wanted(ledger, entries, { kinds, now }).filter(
    (entry) => entry.digest !== undefined && entry.digest !== ledger.get(itemId(entry))?.digest,
  );
  const values = new Map<string, unknown>();
  for (let at = 0; at < missing.length; at += maxItems) {
    const keys = missing.slice(at, at + maxItems).map(({ kind, name }) => ({ kind, name }));
    const answer = await call(peer, credentials, {
      method: 'PUT',
      call: 'items',
      body: { keys },
      sealed: 'answer',
      answer: itemsAnswer,
    });
    for (const item of answer.items) values.set(itemId(item), item.value);
  }
  return { group, news: { digest, entries, values } };
}

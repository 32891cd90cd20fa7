import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { itemKinds } from './site-items.ts';
import { ledgerRow } from './site-ledger.ts';
import { siteGroup, siteState } from './site-state.ts';

/** The facts about a site before it joins others. */
export const description = z.object({
  coffer: z.string().max(64),
  deploymentId: z.string().min(1).max(128),
  buckets: z.int().nonnegative(),
  /** The settings of identity providers that must be the same on all sites, without secrets. */
  identityProviders: nameRecord(z.string(), z.string()),
  group: siteGroup.optional(),
});

export type SiteDescription = z.infer<typeof description>;

/** The state that a site takes over when it joins. */
export const joinRequest = siteState;

/** The group as a site has it, and the digest of its ledger. Without a group the site has left. */
export const digestAnswer = z.object({ group: siteGroup.optional(), digest: z.string().max(128) });

export const indexAnswer = z.object({ items: z.array(ledgerRow) });

const itemKeySchema = z.object({ kind: z.enum(itemKinds), name: z.string().max(2_048) });

/** Items of one request. */
export const maxItems = 100;
export const itemsRequest = z.object({ keys: z.array(itemKeySchema).max(maxItems) });

export const itemsAnswer = z.object({ items: z.array(itemKeySchema.extend({ value: z.unknown() })) });

export const nothingAnswer = z.unknown();

const sentToSite = z.object({
  deploymentId: z.string().max(128),
  bytesPerSecond: z.number().nonnegative(),
  error: z.string().max(2_000).optional(),
});
export type SentToSite = z.infer<typeof sentToSite>;

/** The rates at which a site sent to each of the others. */
export const speedAnswer = z.object({ sent: z.array(sentToSite).max(32) });

import type { NewSite } from '../administration/sites.ts';
import type { SiteDescription } from './peer-messages.ts';
import type { Site, SiteGroup } from './site-state.ts';
import { adminError } from '../administration/admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

interface DescribedSite {
  readonly site: NewSite;
  readonly description: SiteDescription;
}

interface SitePlan {
  /** The deployments that join. */
  readonly fresh: ReadonlySet<string>;
  readonly members: readonly Omit<Site, 'bandwidthLimit'>[];
}

/**
 * Decides whether servers can become sites of each other, or of the group of this one. Throws a `RequestError` that names the site.
 *
 * @param self the deployment id of the server that was asked
 * @param group the group that this server is in
 */
export function planOfSites(described: readonly DescribedSite[], self: string, group: SiteGroup | undefined): SitePlan {
  if (described.length < 2) throw invalid('Name at least two sites.');
  refuseTwice(described, ({ site }) => site.name, 'the same name');
  refuseTwice(described, ({ description }) => description.deploymentId, 'the same deployment id: they are one server');
  if (!described.some(({ description }) => description.deploymentId === self)) {
    throw invalid('The server that is asked must be one of the sites.');
  }
  const given = new Set(described.map(({ description }) => description.deploymentId));
  const absent = group?.sites.find(({ deploymentId }) => !given.has(deploymentId));
  if (absent !== undefined) throw invalid(`Name all sites of the group with the new ones: ${absent.name} is missing.`);
  for (const { site, description } of described) {
    if (description.group !== undefined && description.group.id !== group?.id) {
      throw invalid(
        `The site ${site.name} is in another group of sites: remove it from that first, by "mc admin replicate rm ${site.name} --all --force".`,
      );
    }
  }
  const joins = described.filter(({ description }) => description.group === undefined);
  if (joins.length === 0) throw invalid('These servers are sites of each other already.');
  refuseBuckets(joins, group !== undefined);
  refuseOtherProviders(described);
  return {
    fresh: new Set(joins.map(({ description }) => description.deploymentId)),
    members: described.map(({ site: { name, endpoint }, description: { deploymentId } }) => ({
      name,
      endpoint,
      deploymentId,
    })),
  };
}

function refuseTwice(described: readonly DescribedSite[], of: (site: DescribedSite) => string, what: string): void {
  const seen = new Map<string, string>();
  for (const one of described) {
    const other = seen.get(of(one));
    if (other !== undefined) throw invalid(`The sites ${other} and ${one.site.name} have ${what}.`);
    seen.set(of(one), one.site.name);
  }
}

/** The first group may begin with the buckets of one site. Who joins later has none. */
function refuseBuckets(joins: readonly DescribedSite[], isLater: boolean): void {
  const full = joins.filter(({ description }) => description.buckets > 0);
  const names = full.map(({ site }) => site.name).join(', ');
  if (isLater && full.length > 0) throw invalid(`A site that joins a group must have no buckets: ${names} has some.`);
  if (full.length > 1) throw invalid(`Only one site may have buckets before they replicate: ${names} have some.`);
}

function refuseOtherProviders(described: readonly DescribedSite[]): void {
  const [first, ...others] = described;
  if (first === undefined) return;
  for (const { site, description } of others) {
    const [mine, theirs] = [first.description.identityProviders, description.identityProviders];
    const different = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].find(
      (name) => mine[name] !== theirs[name],
    );
    if (different !== undefined) {
      throw invalid(
        `The sites ${first.site.name} and ${site.name} have different identity providers: ${different} differs.`,
      );
    }
  }
}

function invalid(message: string): RequestError {
  return adminError('XMinioAdminInvalidArgument', message);
}

import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { ReachList } from '../../../protocol/console/reach-answers.ts';
import { useReach } from '../api/reach.ts';
import { useRights } from '../api/session.ts';
import { Section } from '../components/detail-page.tsx';
import { Failure } from '../components/feedback.tsx';
import { LoadingRows, MoreRows } from '../components/list-page.tsx';
import { reachColumns, reachSentence } from '../components/reach-cells.tsx';
import { RowTable } from '../components/row-table.tsx';
import { policyUrl, userUrl } from '../components/urls.ts';
import { rich, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

type Row = ReachList['rows'][number];

/** Lists the users who can reach the bucket, as the policy engine decides it. */
export function ReachSection({ bucket }: { readonly bucket: string }) {
  const reach = useReach(bucket);
  const rows = reach.data ?? [];
  return (
    <Section title={t.bucketSettings.whoCanReachThisBucket} words={t.bucketSettings.byThePoliciesOfUsersAndOf}>
      {reach.isPending && <LoadingRows />}
      {reach.isLoadingError && (
        <Failure what={t.bucketSettings.whoCanReachThisBucketCannotBe} error={reach.error} retry={reach.refetch} />
      )}
      {reach.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          {reach.hasNextPage ? t.bucketSettings.theRootUserAloneAsFarAs : t.bucketSettings.theRootUserAlone}
        </Text>
      )}
      {rows.length > 0 && (
        <RowTable
          rows={rows}
          rowKey={({ who }) => JSON.stringify(who)}
          columns={[{ head: t.labels.who, cell: (row) => <Who row={row} /> }, ...reachColumns<Row>()]}
        />
      )}
      <MoreRows list={reach} shown={Math.max(1, rows.length)} />
    </Section>
  );
}

function Who({ row: { who, rights } }: { readonly row: Row }) {
  const { may } = useRights();
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {who.kind === 'user' && <Name name={who.name} to={may('admin:GetUser') ? userUrl(who.name) : undefined} />}
        {who.kind === 'anonymous' && t.bucketSettings.everyoneWithoutAnAccount}
        {who.kind === 'ldap-user' && say(t.bucketSettings.theDirectoryUser, { name: who.name })}
        {who.kind === 'ldap-group' && say(t.bucketSettings.membersOfTheDirectoryGroup, { name: who.name })}
        {who.kind === 'claim' &&
          say(t.bucketSettings.usersOfWhoseIs, { provider: who.provider, claim: who.claim, value: who.value })}
        {who.kind === 'policy' && (
          <>
            {rich(t.bucketSettings.usersForWhomAProviderNamesThe, {
              policy: <Name name={who.name} to={may('admin:GetPolicy') ? policyUrl(who.name) : undefined} />,
            })}
          </>
        )}
      </Text>
      <Text size="xs" c="dimmed" className="narrow-only">
        {reachSentence(rights)}
      </Text>
    </>
  );
}

function Name({ name, to }: { readonly name: string; readonly to: string | undefined }) {
  if (to === undefined) return name;
  return (
    <Anchor component={Link} to={to} size="sm">
      {name}
    </Anchor>
  );
}

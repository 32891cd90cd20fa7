import { Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { useBucket } from '../api/buckets.ts';
import { useBucketRights, type FolderRights } from '../api/rights.ts';
import { useRights } from '../api/session.ts';
import { DeleteBucketDialog } from '../buckets/bucket-dialogs.tsx';
import { EncryptionBadge, EncryptionDialog } from '../buckets/bucket-encryption.tsx';
import { DetailPage, Fact, Facts, Loaded, Section, sectionId } from '../components/detail-page.tsx';
import { Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { DeleteButton, EditButton } from '../components/edit-buttons.tsx';
import { TagSection } from '../objects/tag-section.tsx';
import { folderUrl } from '../components/urls.ts';
import { formatBytes, formatCount, formatExactTime } from '../text/format.ts';
import { AccessSections } from './access-sections.tsx';
import { CorsSection } from './cors-section.tsx';
import { GrowthChart } from './growth-chart.tsx';
import { LifecycleSection } from './lifecycle/lifecycle-section.tsx';
import { LoggingSection } from './logging-section.tsx';
import { NotificationSection } from './notification-section.tsx';
import { QuotaSection } from './quota-section.tsx';
import { ReachSection } from './reach-section.tsx';
import { ReplicationSection } from './replication-section.tsx';
import { DefaultRetention, VersioningSection } from './versioning-section.tsx';
import { WebsiteSection } from './website-section.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** The settings of a bucket: those that the user may read, with the buttons that the user may press. */
export function BucketSettingsPage() {
  const { bucket = '' } = useParams();
  const details = useBucket(bucket);
  const rights = useBucketRights(bucket);
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  return (
    <DetailPage
      title={t.labels.settings}
      parent={{ name: bucket, to: folderUrl(bucket, ''), parent: { name: t.labels.buckets, to: '/buckets' } }}
      actions={
        rights.bucket('s3:DeleteBucket') && (
          <DeleteButton label={t.bucketSettings.deleteBucket} onClick={() => setDeleting(true)} />
        )
      }
    >
      <Loaded what={say(t.bucketSettings.cannotBeShown, { bucket })} query={details}>
        {(answer) => (
          <div className="with-contents">
            <Stack gap="xl">
              <Section title={t.labels.bucket}>
                <Facts>
                  <Fact name={t.labels.created}>
                    <time dateTime={answer.created}>{formatExactTime(answer.created)}</time>
                  </Fact>
                  <Fact name={t.labels.region}>{answer.location}</Fact>
                  <Fact name={t.labels.objects}>{answer.usage && formatCount(answer.usage.objects)}</Fact>
                  <Fact name={t.labels.size}>{answer.usage && formatBytes(answer.usage.bytes)}</Fact>
                </Facts>
                {answer.usage !== undefined && <GrowthChart bucket={bucket} />}
              </Section>
              <Encryption bucket={answer} mayEdit={rights.bucket('s3:PutEncryptionConfiguration')} />
              <Settings bucket={bucket} rights={rights} />
            </Stack>
            <Contents />
          </div>
        )}
      </Loaded>
      {deleting && (
        <DeleteBucketDialog
          bucket={bucket}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate('/buckets')}
        />
      )}
    </DetailPage>
  );
}

/** Links to the sections, next to them in wide windows. The sections are read from the page: which ones are there depends on the rights. */
function Contents() {
  const [titles, setTitles] = useState<readonly string[]>([]);
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const page = ref.current?.parentElement;
    if (!page) return;
    const read = () => {
      const found = [...page.querySelectorAll('section[aria-label]')].map(
        (one) => one.getAttribute('aria-label') ?? '',
      );
      setTitles((before) => (before.join('\n') === found.join('\n') ? before : found));
    };
    const observer = new MutationObserver(read);
    observer.observe(page, { childList: true, subtree: true });
    read();
    return () => observer.disconnect();
  }, []);
  return (
    <nav className="contents" aria-label={t.bucketSettings.onThisPage} ref={ref}>
      {titles.map((title) => (
        <a key={title} href={`#${sectionId(title)}`}>
          {title}
        </a>
      ))}
    </nav>
  );
}

function Settings({ bucket, rights }: { readonly bucket: string; readonly rights: FolderRights }) {
  const { may: mayAdmin } = useRights();
  const may = rights.bucket;
  const shown = [
    may('s3:GetBucketVersioning') && (
      <VersioningSection key="versioning" bucket={bucket} mayEdit={may('s3:PutBucketVersioning')} />
    ),
    may('s3:GetBucketObjectLockConfiguration') && (
      <DefaultRetention key="lock" bucket={bucket} mayEdit={may('s3:PutBucketObjectLockConfiguration')} />
    ),
    mayAdmin('admin:GetBucketQuota') && (
      <QuotaSection key="quota" bucket={bucket} mayEdit={mayAdmin('admin:SetBucketQuota')} />
    ),
    may('s3:GetBucketTagging') && <TagSection key="tags" bucket={bucket} mayEdit={may('s3:PutBucketTagging')} />,
    may('s3:GetLifecycleConfiguration') && (
      <LifecycleSection key="lifecycle" bucket={bucket} mayEdit={may('s3:PutLifecycleConfiguration')} />
    ),
    (may('s3:GetBucketPolicy') || may('s3:GetBucketPublicAccessBlock')) && (
      <AccessSections key="access" bucket={bucket} rights={rights} />
    ),
    mayAdmin('admin:ExplainPolicy') && <ReachSection key="reach" bucket={bucket} />,
    may('s3:GetBucketNotification') && (
      <NotificationSection key="notifications" bucket={bucket} mayEdit={may('s3:PutBucketNotification')} />
    ),
    may('s3:GetReplicationConfiguration') && (
      <ReplicationSection
        key="replication"
        bucket={bucket}
        mayEdit={may('s3:PutReplicationConfiguration')}
        mayResync={may('s3:ResetBucketReplicationState')}
      />
    ),
    may('s3:GetBucketCORS') && <CorsSection key="cors" bucket={bucket} mayEdit={may('s3:PutBucketCORS')} />,
    may('s3:GetBucketWebsite') && (
      <WebsiteSection
        key="website"
        bucket={bucket}
        mayEdit={may('s3:PutBucketWebsite') && may('s3:DeleteBucketWebsite')}
      />
    ),
    may('s3:GetBucketLogging') && <LoggingSection key="logging" bucket={bucket} mayEdit={may('s3:PutBucketLogging')} />,
  ].filter(Boolean);
  if (rights.error !== undefined) {
    return <Failure what={t.bucketSettings.yourRightsAreNotKnown} error={rights.error} retry={rights.retry} />;
  }
  if (!rights.known) return <LoadingRows />;
  if (shown.length > 0) return shown;
  return (
    <Text size="sm" c="dimmed">
      {t.bucketSettings.toSeeTheOtherSettingsOfThis}
    </Text>
  );
}

interface EncryptionProps {
  readonly bucket: Parameters<typeof EncryptionDialog>[0]['bucket'];
  readonly mayEdit: boolean;
}

function Encryption({ bucket, mayEdit }: EncryptionProps) {
  const [editing, setEditing] = useDraft('encryption.editing', false);
  return (
    <Section
      title={t.bucketSettings.defaultEncryption}
      action={
        mayEdit && <EditButton label={t.bucketSettings.editTheDefaultEncryption} onClick={() => setEditing(true)} />
      }
    >
      {bucket.encryption === undefined ? (
        <Text size="sm" c="dimmed">
          {t.buckets.newObjectsAreNotEncryptedChooseIn}
        </Text>
      ) : (
        <Group>
          <EncryptionBadge encryption={bucket.encryption} />
        </Group>
      )}
      {editing && <EncryptionDialog bucket={bucket} onClose={() => setEditing(false)} />}
    </Section>
  );
}

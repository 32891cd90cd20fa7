import { Badge, Checkbox, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useLock, useSetLegalHold, useSetRetention, type Lock } from '../api/object-properties.ts';
import type { KeyRights } from '../api/rights.ts';
import { Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormError } from '../components/form-dialog.tsx';
import { formatExactTime } from '../text/format.ts';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { useBucketLock } from '../api/object-properties.ts';
import { useBucketRights } from '../api/rights.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface ObjectLockProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly rights: KeyRights;
}

/** The retention and the legal hold of the current version, in a bucket with object lock. */
export function ObjectLock({ bucket, objectKey, rights }: ObjectLockProps) {
  const asksBucket = useBucketRights(bucket).bucket('s3:GetBucketObjectLockConfiguration');
  const ofBucket = useBucketLock(bucket, asksBucket);
  const shows = rights.may('s3:GetObjectRetention') && rights.may('s3:GetObjectLegalHold');
  const lock = useLock(bucket, objectKey, shows && ofBucket.data !== null && ofBucket.data !== undefined);
  if (shows && ofBucket.isLoadingError) {
    return <Failure what={t.objectDetails.theLockCannotBeShown} error={ofBucket.error} retry={ofBucket.refetch} />;
  }
  if (!shows || ofBucket.data === null || ofBucket.data === undefined) return null;
  return (
    <Loaded what={t.objectDetails.theLockCannotBeShown} query={lock}>
      {(shown) => (
        <Stack gap="lg">
          <Retention {...{ bucket, objectKey, rights }} lock={shown} />
          <LegalHold {...{ bucket, objectKey, rights }} lock={shown} />
        </Stack>
      )}
    </Loaded>
  );
}

interface LockProps extends ObjectLockProps {
  readonly lock: Lock;
}

function Retention({ bucket, objectKey, rights, lock }: LockProps) {
  const set = useSetRetention(bucket, objectKey);
  const [edited, setEdited] = useDraft<{ mode: NonNullable<Lock['mode']>; day: string; bypass: boolean } | undefined>(
    'retention',
    undefined,
  );

  function save(): void {
    if (edited === undefined) return;
    // The end of the day that the user chose, in the user's time.
    const until = new Date(`${edited.day}T23:59:59`).toISOString();
    set.mutate(
      { mode: edited.mode, until, bypass: edited.bypass },
      {
        onSuccess: () => {
          setEdited(undefined);
          notifyDone(t.objectDetails.theRetentionIsSet);
        },
      },
    );
  }

  return (
    <Section
      title={t.objectDetails.retention}
      action={
        rights.may('s3:PutObjectRetention') &&
        edited === undefined && (
          <EditButton
            label={t.objectDetails.editRetention}
            onClick={() =>
              setEdited({ mode: lock.mode ?? 'GOVERNANCE', day: lock.until?.slice(0, 10) ?? '', bypass: false })
            }
          />
        )
      }
    >
      {edited === undefined ? (
        lock.mode === undefined || lock.until === undefined ? (
          <Text size="sm" c="dimmed">
            {t.labels.none}
          </Text>
        ) : (
          <Facts>
            <Fact name={t.objectDetails.mode}>
              <Badge>{lock.mode}</Badge>
            </Fact>
            <Fact name={t.objectDetails.until}>
              <time dateTime={lock.until}>{formatExactTime(lock.until)}</time>
            </Fact>
          </Facts>
        )
      ) : (
        <Stack gap="sm">
          <Select
            size="xs"
            label={t.objectDetails.mode}
            description={t.objectDetails.aSpecialRightCanEndGovernanceEarly}
            data={['GOVERNANCE', 'COMPLIANCE']}
            allowDeselect={false}
            value={edited.mode}
            onChange={(mode) => setEdited({ ...edited, mode: mode === 'COMPLIANCE' ? 'COMPLIANCE' : 'GOVERNANCE' })}
          />
          <TextInput
            size="xs"
            type="date"
            label={t.objectDetails.untilTheEndOf}
            required
            withAsterisk={false}
            value={edited.day}
            onChange={(event) => setEdited({ ...edited, day: event.currentTarget.value })}
          />
          {lock.mode === 'GOVERNANCE' && rights.may('s3:BypassGovernanceRetention') && (
            <Checkbox
              size="xs"
              label={t.objectDetails.shortenItTooByTheRightS3}
              checked={edited.bypass}
              onChange={(event) => setEdited({ ...edited, bypass: event.currentTarget.checked })}
            />
          )}
          <FormError error={set.error} />
          <SaveButtons
            pending={set.isPending}
            onSave={() => edited.day !== '' && save()}
            onCancel={() => setEdited(undefined)}
          />
        </Stack>
      )}
    </Section>
  );
}

function LegalHold({ bucket, objectKey, rights, lock }: LockProps) {
  const set = useSetLegalHold(bucket, objectKey);
  if (!rights.may('s3:PutObjectLegalHold')) {
    return (
      <Section title={t.objectDetails.legalHold}>
        <Text size="sm">{lock.legalHold ? t.objectDetails.on : t.objectDetails.off}</Text>
      </Section>
    );
  }
  return (
    <Section title={t.objectDetails.legalHold}>
      <Switch
        label={t.objectDetails.noUserCanDeleteThisVersionWhile}
        checked={lock.legalHold}
        disabled={set.isPending}
        onChange={(event) =>
          set.mutate(event.currentTarget.checked, {
            onError: (error) => notifyFailure(t.objectDetails.theLegalHoldStaysAsItIs, error),
          })
        }
      />
    </Section>
  );
}

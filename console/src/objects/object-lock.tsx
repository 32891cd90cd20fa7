import { Badge, Checkbox, Select, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useLock, useSetLegalHold, useSetRetention, type Lock, type VersionPlace } from '../api/object-lock.ts';
import type { KeyRights } from '../api/rights.ts';
import { Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { ConfirmDialog, FormError } from '../components/form-dialog.tsx';
import { TimeField } from '../components/time-field.tsx';
import { formatExactTime } from '../text/format.ts';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { useBucketLock } from '../api/object-properties.ts';
import { useBucketRights } from '../api/rights.ts';
import { ownZone } from '../text/zoned-time.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { retentionChange, retentionForm, type RetentionForm } from './retention-change.ts';
import { useDraft } from '../components/use-draft.ts';

interface ObjectLockProps {
  /** The version that the page shows. */
  readonly place: VersionPlace;
  readonly rights: KeyRights;
}

/** The retention and the legal hold of a version, in a bucket with object lock. */
export function ObjectLock({ place, rights }: ObjectLockProps) {
  const { bucket } = place;
  const asksBucket = useBucketRights(bucket).bucket('s3:GetBucketObjectLockConfiguration');
  const ofBucket = useBucketLock(bucket, asksBucket);
  const shows = rights.may('s3:GetObjectRetention') && rights.may('s3:GetObjectLegalHold');
  const lock = useLock(place, shows && ofBucket.data !== null && ofBucket.data !== undefined);
  if (shows && ofBucket.isLoadingError) {
    return <Failure what={t.objectDetails.theLockCannotBeShown} error={ofBucket.error} retry={ofBucket.refetch} />;
  }
  if (!shows || ofBucket.data === null || ofBucket.data === undefined) return null;
  return (
    <Loaded what={t.objectDetails.theLockCannotBeShown} query={lock}>
      {(shown) => (
        <Stack gap="lg">
          <Retention {...{ place, rights }} lock={shown} />
          <LegalHold {...{ place, rights }} lock={shown} />
        </Stack>
      )}
    </Loaded>
  );
}

interface LockProps extends ObjectLockProps {
  readonly lock: Lock;
}

/** The version and the lock that the form was filled with, and what the user made of it. */
interface RetentionDraft {
  readonly versionId: string;
  readonly from: Lock;
  readonly form: RetentionForm;
}

function Retention({ place, rights, lock }: LockProps) {
  const set = useSetRetention(place);
  const [edited, setEdited] = useDraft<RetentionDraft | undefined>('retention', undefined);
  const [asking, setAsking] = useState<{ readonly until: string }>();
  const [issue, setIssue] = useState<string>();
  const zone = ownZone();

  function end(): void {
    set.reset();
    setAsking(undefined);
    setIssue(undefined);
    setEdited(undefined);
  }

  function change(to: Partial<RetentionForm>): void {
    setIssue(undefined);
    if (edited !== undefined) setEdited({ ...edited, form: { ...edited.form, ...to } });
  }

  /** Sends what the user changed. COMPLIANCE is asked for once more first. */
  function save(asked: boolean): void {
    if (edited === undefined) return;
    const { versionId, from, form } = edited;
    const wanted = retentionChange(from, form, zone);
    if (wanted.kind === 'none') {
      end();
      return;
    }
    const isOther = versionId !== place.versionId || from.mode !== lock.mode || from.until !== lock.until;
    setIssue(
      wanted.kind === 'incomplete'
        ? t.objectDetails.chooseADateAndATime
        : isOther
          ? t.bucketSettings.theSettingWasChangedMeanwhile
          : undefined,
    );
    if (isOther) setAsking(undefined);
    if (wanted.kind !== 'change' || isOther) return;
    if (wanted.asks && !asked) {
      setAsking(wanted);
      return;
    }
    const { mode, until } = wanted;
    set.mutate(
      { mode, until, bypass: form.bypass },
      {
        onSuccess: () => {
          end();
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
            onClick={() => setEdited({ versionId: place.versionId, from: lock, form: retentionForm(lock, zone) })}
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
            value={edited.form.mode}
            onChange={(mode) => change({ mode: mode === 'COMPLIANCE' ? 'COMPLIANCE' : 'GOVERNANCE' })}
          />
          <TimeField
            size="xs"
            label={t.objectDetails.until}
            error={issue}
            value={edited.form.until}
            onChange={(until) => change({ until })}
          />
          {lock.mode === 'GOVERNANCE' && rights.may('s3:BypassGovernanceRetention') && (
            <Checkbox
              size="xs"
              label={t.objectDetails.shortenItTooByTheRightS3}
              checked={edited.form.bypass}
              onChange={(event) => change({ bypass: event.currentTarget.checked })}
            />
          )}
          {asking === undefined && <FormError error={set.error} />}
          <SaveButtons pending={set.isPending} onSave={() => save(false)} onCancel={end} />
        </Stack>
      )}
      {asking !== undefined && (
        <ConfirmDialog
          title={t.objectDetails.setCompliance}
          submit={t.objectDetails.setComplianceWord}
          pending={set.isPending}
          error={set.error}
          onConfirm={() => save(true)}
          onClose={() => setAsking(undefined)}
        >
          {say(t.objectDetails.untilNoUserCanDelete, { time: formatExactTime(asking.until) })}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function LegalHold({ place, rights, lock }: LockProps) {
  const set = useSetLegalHold(place);
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

import { NumberInput, Progress, Radio, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { Section } from '../components/detail-page.tsx';
import { Failure, notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { formatTime } from '../text/format.ts';
import { say } from '../texts/say.ts';
import { NameText } from '../components/name-text.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';
import { isRefresh } from '../api/call.ts';

/** The progress of a rotation. Times are milliseconds since 1970. */
interface Rotation {
  readonly from: string;
  readonly to: string;
  readonly version?: string;
  readonly mode: 'reseal' | 'rewrite';
  readonly started: number;
  readonly finished?: number;
  readonly looked: number;
  readonly done: number;
  readonly failed: number;
  /** Set when all objects were looked at: the time of the second pass. */
  readonly againAfter?: number;
  readonly failure?: { readonly bucket: string; readonly key: string; readonly message: string };
}

/** The rotation in progress, or the last one. */
export function RotationProgress() {
  const rotation = useQuery({
    queryKey: ['rotation'],
    queryFn: (query) =>
      admin<{ readonly rotation: Rotation | null }>('GET', 'coffer/kms/key/rotate', { refresh: isRefresh(query) }),
    refetchInterval: 5_000,
  });
  if (rotation.isLoadingError) {
    return <Failure what={t.keys.theRotationCannotBeShown} error={rotation.error} retry={rotation.refetch} />;
  }
  const found = rotation.data?.rotation;
  if (found === undefined || found === null) return null;
  const { from, to, version, finished, againAfter, looked, done, failed, failure } = found;
  // After the first pass the servers may still encrypt with data keys of the previous version: a second pass finds those objects.
  const working = finished === undefined && againAfter === undefined;
  return (
    <Section title={working ? t.keys.rotationInProgress : t.keys.lastRotation}>
      <Stack gap={6} maw={560}>
        {working && <Progress value={100} animated aria-label={t.keys.theRotationIsInProgress} />}
        <Text size="sm">
          {say(t.keys.objectsWereLookedAtGotTheNew, {
            change:
              from !== to
                ? say(t.keys.to, { from, to })
                : version === undefined
                  ? say(t.keys.newVersion, { from })
                  : say(t.keys.newVersionFromVersion, { from, version }),
            looked,
            done,
            failed,
          })}
        </Text>
        <Text size="xs" c="dimmed">
          {timesOf(found)}
        </Text>
        {failure !== undefined && (
          <Text size="sm" c="red" style={{ overflowWrap: 'anywhere' }}>
            <NameText name={`${failure.bucket}/${failure.key}`} max={120} />: {failure.message}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

const timeAt = (ms: number) => formatTime(new Date(ms).toISOString());

function timesOf({ started, finished, againAfter }: Rotation): string {
  if (finished !== undefined) return say(t.keys.ended, { time: timeAt(finished) });
  if (againAfter === undefined) return say(t.keys.since, { time: timeAt(started) });
  return say(t.keys.objectsHaveTheNewKeyASecondPass, { time: timeAt(againAfter) });
}

interface RotateDialogProps {
  readonly name: string;
  /** The names of the other keys, of which one may replace it. */
  readonly others: readonly string[];
  readonly onClose: () => void;
}

/** Asks for a new version of a key, or for another key, and gives it to the objects. */
export function RotateDialog({ name, others, onClose }: RotateDialogProps) {
  const [to, setTo] = useDraft<string | null>('rotation.to', null);
  const [mode, setMode] = useDraft('rotation.mode', 'reseal');
  const [rate, setRate] = useDraft<number | string>('rotation.rate', 500);
  const rotate = useApiMutation(
    () =>
      admin('POST', 'coffer/kms/key/rotate', {
        query: { 'key-id': name, to: to ?? undefined, mode, rate: String(rate) },
      }),
    ['rotation', 'keys'],
  );
  return (
    <FormDialog
      title={say(t.keys.rotateName, { name })}
      submit={t.keys.rotateTitle}
      pending={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSubmit={() =>
        rotate.mutate(undefined, {
          onSuccess: () => {
            notifyDone(t.keys.theRotationBeginsWithinSomeSeconds);
            onClose();
          },
        })
      }
    >
      {others.length > 0 && (
        <Select
          label={t.keys.newKey}
          placeholder={say(t.keys.aNewVersionOf, { name })}
          data={[...others]}
          value={to}
          onChange={setTo}
          clearable
          searchable
        />
      )}
      <Text size="sm">
        {to === null ? t.keys.theKeyGetsANewVersionWhich : say(t.keys.theObjectsGetTheOtherKey, { name, to })}
      </Text>
      <Radio.Group label={t.keys.objectsThatAreThere} value={mode} onChange={setMode}>
        <Stack gap="xs" mt={6}>
          <Radio value="reseal" label={t.keys.wrapTheirKeysAgainNoBodyIs} />
          <Radio value="rewrite" label={t.keys.encryptTheirBodiesAgainUnderNewKeys} />
        </Stack>
      </Radio.Group>
      <NumberInput label={t.keys.objectsASecond} min={1} max={1_000_000} value={rate} onChange={setRate} required />
    </FormDialog>
  );
}

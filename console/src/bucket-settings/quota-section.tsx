import { Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { setQuota } from '../api/buckets.ts';
import { useApiMutation } from '../api/queries.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { SizeFields } from '../components/size-fields.tsx';
import { formatBytes } from '../text/format.ts';
import { bytesOf, splitBytes } from './quota-size.ts';
import { type EditorProps, SettingSection } from './setting-section.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface QuotaSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

interface QuotaAnswer {
  readonly quota: { readonly bytes: number; readonly used?: number } | null;
}

/** Sets the maximum size; 0 removes it. */
function useSetQuota(bucket: string) {
  return useApiMutation((bytes: number) => setQuota(bucket, bytes), ['quota']);
}

/** Shows the maximum size of the bucket. */
export function QuotaSection({ bucket, mayEdit }: QuotaSectionProps) {
  const quota = useQuery({
    queryKey: ['quota', bucket],
    queryFn: async () => (await admin<QuotaAnswer>('GET', 'coffer/bucket-quota', { query: { bucket } })).quota,
  });
  const set = useSetQuota(bucket);
  return (
    <SettingSection
      draft="quota"
      title={t.bucketSettings.quota}
      words={t.bucketSettings.theMostThatAllVersionsOfThe}
      edit={t.bucketSettings.editTheQuota}
      what={t.bucketSettings.theQuotaCannotBeShown}
      mayEdit={mayEdit}
      query={quota}
      set={set}
      saved={(bytes) => (bytes === 0 ? t.bucketSettings.theBucketHasNoQuotaAnyMore : t.bucketSettings.theQuotaIsSaved)}
      dialog={(shown, editor) => <QuotaDialog bytes={shown?.bytes ?? 0} {...editor} />}
    >
      {(shown) =>
        shown === null ? (
          <Text size="sm" c="dimmed">
            {t.bucketSettings.theBucketHasNoQuota}
          </Text>
        ) : (
          <Usage bytes={shown.bytes} used={shown.used} />
        )
      }
    </SettingSection>
  );
}

function Usage({ bytes, used }: { readonly bytes: number; readonly used?: number | undefined }) {
  if (used === undefined) return <Text size="sm">{formatBytes(bytes)}</Text>;
  const share = Math.min(100, (100 * used) / bytes);
  return (
    <>
      <Text size="sm" mb={6}>
        {say(t.bucketSettings.ofUsed, { used: formatBytes(used), bytes: formatBytes(bytes) })}
      </Text>
      <Progress
        value={share}
        color={share >= 90 ? 'red' : undefined}
        aria-label={say(t.bucketSettings.percentOfTheQuotaIsUsed, { share: Math.round(share) })}
        maw={320}
      />
    </>
  );
}

interface QuotaDialogProps extends EditorProps<number> {
  readonly bytes: number;
}

function QuotaDialog({ bytes, pending, error, onSave, onClose }: QuotaDialogProps) {
  const [edited, setEdited] = useDraft('quota.size', splitBytes(bytes));
  return (
    <FormDialog
      title={t.bucketSettings.theQuotaOfTheBucket}
      submit={t.bucketSettings.saveQuota}
      pending={pending}
      error={error}
      onSubmit={() => (bytesOf(edited) === bytes ? onClose() : onSave(bytesOf(edited)))}
      onClose={onClose}
    >
      <SizeFields label={t.bucketSettings.atMost} focused size={edited} onChange={setEdited} />
    </FormDialog>
  );
}

import { Anchor, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { useBuckets } from '../api/buckets.ts';
import { useApiMutation } from '../api/queries.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../api/configuration.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { folderUrl } from '../components/urls.ts';
import {
  elementOf,
  emptyLogging,
  type Logging,
  loggingDocument,
  loggingOf,
  unknownOfLogging,
} from './logging-document.ts';
import { type EditorProps, SettingSection } from './setting-section.tsx';
import { UnknownFields } from '../components/unknown-fields.tsx';
import { rich } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface LoggingSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

/** Null while no log is written. */
function useLogging(bucket: string) {
  return useQuery({
    queryKey: ['logging', bucket],
    queryFn: async (): Promise<Logging | null> => {
      const found = await configuration(bucket, subresources.logging);
      return found === undefined ? null : loggingOf(found.root);
    },
  });
}

function useSetLogging(bucket: string) {
  return useApiMutation(
    (logging: Logging | null) =>
      editConfiguration(bucket, subresources.logging, (now) => {
        if (logging !== null) expectSame(elementOf(now), logging.element);
        return loggingDocument(logging);
      }),
    ['logging'],
  );
}

/** Shows the bucket that gets the access logs of this one. */
export function LoggingSection({ bucket, mayEdit }: LoggingSectionProps) {
  const logging = useLogging(bucket);
  const set = useSetLogging(bucket);
  return (
    <SettingSection
      draft="log"
      title={t.bucketSettings.accessLog}
      words={t.bucketSettings.objectsWithOneLineForEachRequest}
      edit={t.bucketSettings.editTheAccessLog}
      what={t.bucketSettings.theAccessLogCannotBeShown}
      mayEdit={mayEdit}
      query={logging}
      set={set}
      saved={(next) =>
        next === null ? t.bucketSettings.noAccessLogIsWrittenAnyMore : t.bucketSettings.theAccessLogIsSaved
      }
      dialog={(shown, editor) => <LoggingDialog logging={shown} own={bucket} {...editor} />}
    >
      {(shown) =>
        shown === null ? (
          <Text size="sm" c="dimmed">
            {t.bucketSettings.noLogIsWritten}
          </Text>
        ) : (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {rich(t.bucketSettings.writtenTo, {
              folder: (
                <Anchor component={Link} to={folderUrl(shown.bucket, folderOf(shown.prefix))}>
                  {`${shown.bucket}/${shown.prefix}`}
                </Anchor>
              ),
              division: partitionWords[shown.partitionBy] ?? '',
            })}
          </Text>
        )
      }
    </SettingSection>
  );
}

const partitionWords: Readonly<Record<string, string>> = {
  EventTime: t.bucketSettings.itsFoldersAreTheDaysOfThe,
  DeliveryTime: t.bucketSettings.itsFoldersAreTheDaysOfTheDelivery,
};

function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

interface LoggingDialogProps extends EditorProps<Logging | null> {
  readonly logging: Logging | null;
  readonly own: string;
}

function LoggingDialog({ logging, own, pending, error, onSave, onClose }: LoggingDialogProps) {
  const [on, setOn] = useDraft('log.on', true);
  const [edited, setEdited] = useDraft('log.edited', logging ?? emptyLogging(own));
  const buckets = useBuckets('').data ?? [];
  const names = buckets.map(({ name }) => name);
  return (
    <FormDialog
      title={t.bucketSettings.theAccessLogOfTheBucket}
      submit={t.bucketSettings.saveAccessLog}
      pending={pending}
      error={error}
      onSubmit={() => onSave(on ? edited : null)}
      onClose={onClose}
    >
      <Switch
        label={t.bucketSettings.writeAnAccessLog}
        checked={on}
        onChange={(event) => setOn(event.currentTarget.checked)}
        data-autofocus
      />
      {on && (
        <>
          <Select
            label={t.bucketSettings.bucketOfTheLog}
            description={t.bucketSettings.youNeedTheRightToWriteThere}
            searchable
            required
            withAsterisk={false}
            data={edited.bucket === '' || names.includes(edited.bucket) ? names : [edited.bucket, ...names]}
            value={edited.bucket === '' ? null : edited.bucket}
            onChange={(bucket) => setEdited({ ...edited, bucket: bucket ?? '' })}
          />
          <TextInput
            label={t.bucketSettings.namesBeginWith}
            spellCheck={false}
            maxLength={800}
            value={edited.prefix}
            onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
          />
          <Select
            label={t.bucketSettings.folders}
            allowDeselect={false}
            data={[
              { value: '', label: t.bucketSettings.noneTheTimeIsInTheName },
              { value: 'EventTime', label: t.bucketSettings.byTheDayOfTheRequests },
              { value: 'DeliveryTime', label: t.bucketSettings.byTheDayOfTheDelivery },
            ]}
            value={edited.partitionBy}
            onChange={(partitionBy) => setEdited({ ...edited, partitionBy: partitionBy ?? '' })}
          />
          <UnknownFields parts={unknownOfLogging(edited)} />
        </>
      )}
    </FormDialog>
  );
}

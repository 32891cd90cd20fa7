import { Stack, Text } from '@mantine/core';
import { useSetTags, useTags, type Pair } from '../api/object-properties.ts';
import { Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { FormError } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { PairEditor } from '../components/pair-editor.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface TagSectionProps {
  readonly bucket: string;
  /** Undefined for the tags of the bucket. */
  readonly objectKey?: string;
  readonly mayEdit: boolean;
}

/** Shows and edits the tags of an object or a bucket. */
export function TagSection({ bucket, objectKey, mayEdit }: TagSectionProps) {
  const tags = useTags(bucket, objectKey, true);
  const set = useSetTags(bucket, objectKey);
  const [edited, setEdited] = useDraft<readonly Pair[] | undefined>('tags', undefined);

  function save(): void {
    set.mutate(
      (edited ?? []).filter(({ name }) => name !== ''),
      {
        onSuccess: () => {
          setEdited(undefined);
          notifyDone(t.objectDetails.theTagsAreSaved);
        },
      },
    );
  }

  return (
    <Section
      title={t.objectDetails.tags}
      action={
        mayEdit &&
        edited === undefined && (
          <EditButton
            label={t.objectDetails.editTags}
            onClick={() => setEdited(tags.data ?? [])}
            disabled={!tags.isSuccess}
          />
        )
      }
    >
      {edited === undefined ? (
        <Loaded what={t.objectDetails.theTagsCannotBeShown} query={tags}>
          {(shown) => <Pairs pairs={shown} />}
        </Loaded>
      ) : (
        <Stack gap="sm">
          <PairEditor
            add={t.objectDetails.addATag}
            pairs={edited}
            onChange={setEdited}
            max={objectKey === undefined ? 50 : 10}
          />
          <FormError error={set.error} />
          <SaveButtons pending={set.isPending} onSave={save} onCancel={() => setEdited(undefined)} />
        </Stack>
      )}
    </Section>
  );
}

function Pairs({ pairs }: { readonly pairs: readonly Pair[] }) {
  if (pairs.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.labels.none}
      </Text>
    );
  }
  return (
    <Facts>
      {pairs.map(({ name, value }) => (
        <Fact key={name} name={name} mono>
          {value === '' ? '–' : value}
        </Fact>
      ))}
    </Facts>
  );
}

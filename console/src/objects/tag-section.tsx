import { Stack, Text } from '@mantine/core';
import { useSetTags, useTags, type Pair } from '../api/object-properties.ts';
import { Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { FormError } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { PairEditor } from '../components/pair-editor.tsx';
import { isSame } from '../text/element-form.ts';
import { changedTags } from './tag-change.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface TagSectionProps {
  readonly bucket: string;
  /** Undefined for the tags of the bucket. */
  readonly objectKey?: string;
  readonly mayEdit: boolean;
}

/** The tags that the form showed, and what the user made of them. */
interface TagDraft {
  readonly shown: readonly Pair[];
  readonly edited: readonly Pair[];
}

/** Shows and edits the tags of an object or a bucket. */
export function TagSection({ bucket, objectKey, mayEdit }: TagSectionProps) {
  const tags = useTags(bucket, objectKey, true);
  const set = useSetTags(bucket, objectKey);
  const [draft, setDraft] = useDraft<TagDraft | undefined>('tags', undefined);

  function end(): void {
    set.reset();
    setDraft(undefined);
  }

  function save({ shown, edited }: TagDraft): void {
    const named = edited.filter(({ name, value }) => name !== '' || value !== '');
    if (isSame(shown, named)) {
      end();
      return;
    }
    set.mutate((now) => changedTags(shown, named, now), {
      onSuccess: () => {
        end();
        notifyDone(t.objectDetails.theTagsAreSaved);
      },
    });
  }

  return (
    <Section
      title={t.objectDetails.tags}
      action={
        mayEdit &&
        draft === undefined && (
          <EditButton
            label={t.objectDetails.editTags}
            onClick={() => tags.data && setDraft({ shown: tags.data, edited: tags.data })}
            disabled={!tags.isSuccess}
          />
        )
      }
    >
      {draft === undefined ? (
        <Loaded what={t.objectDetails.theTagsCannotBeShown} query={tags}>
          {(shown) => <Pairs pairs={shown} />}
        </Loaded>
      ) : (
        <Stack gap="sm">
          <PairEditor
            add={t.objectDetails.addATag}
            pairs={draft.edited}
            onChange={(edited) => setDraft({ ...draft, edited })}
            max={objectKey === undefined ? 50 : 10}
          />
          <FormError error={set.error} />
          <SaveButtons pending={set.isPending} onSave={() => save(draft)} onCancel={end} />
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

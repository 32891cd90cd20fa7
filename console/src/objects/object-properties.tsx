import { Stack, Text, TextInput } from '@mantine/core';
import type { ObjectDetails } from '../../../protocol/console/answers.ts';
import { objectsChanged } from '../api/changes.ts';
import { useSetHeaders, type EditedHeaders } from '../api/object-properties.ts';
import type { KeyRights } from '../api/rights.ts';
import { Fact, Facts, Section } from '../components/detail-page.tsx';
import { FormError } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { PairEditor } from '../components/pair-editor.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { ObjectLock } from './object-lock.tsx';
import { TagSection } from './tag-section.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface ObjectPropertiesProps {
  readonly bucket: string;
  readonly object: ObjectDetails;
  readonly rights: KeyRights;
}

/** Edits the tags, the metadata and headers, the retention and the legal hold of an object. */
export function ObjectProperties({ bucket, object, rights }: ObjectPropertiesProps) {
  return (
    <Stack gap="lg">
      {rights.may('s3:GetObjectTagging') && (
        <TagSection bucket={bucket} objectKey={object.key} mayEdit={rights.may('s3:PutObjectTagging')} />
      )}
      <HeaderSection
        key={object.key}
        {...{ bucket, object }}
        mayEdit={rights.may('s3:GetObject') && rights.may('s3:PutObject') && object.encryption?.scheme !== 'SSE-C'}
      />
      <ObjectLock place={{ bucket, key: object.key, versionId: object.versionId }} rights={rights} />
    </Stack>
  );
}

const headerFields = [
  ['contentType', t.objectDetails.contentType],
  ['contentEncoding', t.objectDetails.contentEncoding],
  ['contentDisposition', t.objectDetails.contentDisposition],
  ['contentLanguage', t.objectDetails.contentLanguage],
  ['cacheControl', t.objectDetails.cacheControl],
] as const;

interface HeaderSectionProps {
  readonly bucket: string;
  readonly object: ObjectDetails;
  readonly mayEdit: boolean;
}

function HeaderSection({ bucket, object, mayEdit }: HeaderSectionProps) {
  const set = useSetHeaders(bucket, object.key);
  const [edited, setEdited] = useDraft<EditedHeaders | undefined>('metadata', undefined);
  const metadata = Object.entries(object.metadata).map(([name, value]) => ({ name, value }));

  function edit(): void {
    const { contentType = '', contentEncoding = '', contentDisposition = '' } = object;
    const { contentLanguage = '', cacheControl = '' } = object;
    // A draft survives a reload, after which the object may be another one.
    const seen = { etag: object.etag, lastModified: object.lastModified };
    setEdited({ contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl, metadata, seen });
  }

  function save(): void {
    if (edited === undefined) return;
    const kept = edited.metadata.filter(({ name }) => name !== '');
    set.mutate(
      { ...edited, metadata: kept },
      {
        onSuccess: () => {
          setEdited(undefined);
          objectsChanged(bucket);
          notifyDone(t.objectDetails.theMetadataAreSaved);
        },
      },
    );
  }

  const shown = headerFields.filter(([field]) => object[field] !== undefined);
  return (
    <Section
      title={t.objectDetails.metadata}
      action={mayEdit && edited === undefined && <EditButton label={t.objectDetails.editMetadata} onClick={edit} />}
    >
      {edited === undefined ? (
        <Stack gap="xs">
          <Facts>
            {shown.map(([field, name]) => (
              <Fact key={field} name={name}>
                {object[field]}
              </Fact>
            ))}
            <Fact name={t.objectDetails.expires}>{object.expires}</Fact>
            {metadata.map(({ name, value }) => (
              <Fact key={name} name={name} mono>
                {value}
              </Fact>
            ))}
          </Facts>
          {shown.length + metadata.length === 0 && (
            <Text size="sm" c="dimmed">
              {t.labels.none}
            </Text>
          )}
        </Stack>
      ) : (
        <Stack gap="sm">
          {headerFields.map(([field, label]) => (
            <TextInput
              key={field}
              size="xs"
              label={label}
              spellCheck={false}
              value={edited[field]}
              onChange={(event) => setEdited({ ...edited, [field]: event.currentTarget.value })}
            />
          ))}
          <PairEditor
            add={t.objectDetails.addAMetadataEntry}
            pairs={edited.metadata}
            onChange={(pairs) => setEdited({ ...edited, metadata: pairs })}
            max={50}
          />
          <Text size="xs" c="dimmed">
            {t.objectDetails.savingCopiesTheObjectOntoItselfIn}
          </Text>
          <FormError error={set.error} />
          <SaveButtons pending={set.isPending} onSave={save} onCancel={() => setEdited(undefined)} />
        </Stack>
      )}
    </Section>
  );
}

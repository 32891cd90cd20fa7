import { Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from '../components/form-dialog.tsx';
import { type EditorProps, SettingSection } from './setting-section.tsx';
import { useSetWebsite, useWebsite, type Website } from './website-queries.ts';

interface WebsiteSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const initial: Website = { kind: 'site', index: 'index.html', error: '', host: '', protocol: '', rules: [] };

/** Shows how the bucket answers as a website. */
export function WebsiteSection({ bucket, mayEdit }: WebsiteSectionProps) {
  const website = useWebsite(bucket);
  const set = useSetWebsite(bucket);
  return (
    <SettingSection
      title="Website"
      words="Pages of the bucket at the address of its website, if the server has websites. Visitors need the right to read, for example by Access without an account."
      name="the website"
      mayEdit={mayEdit}
      query={website}
      set={set}
      saved={(next) => (next === null ? 'The bucket is no website any more.' : 'The website is saved.')}
      dialog={(shown, editor) => <WebsiteDialog website={shown} {...editor} />}
    >
      {(shown) =>
        describeWebsite(shown).map((sentence) => (
          <Text size="sm" key={sentence} c={shown === null ? 'dimmed' : undefined}>
            {sentence}
          </Text>
        ))
      }
    </SettingSection>
  );
}

/** Describes a website in sentences. */
function describeWebsite(website: Website | null): readonly string[] {
  if (website === null) return ['The bucket is no website.'];
  const { kind, index, error, host, protocol, rules } = website;
  if (kind === 'redirect') return [`All requests are sent to ${protocol === '' ? '' : `${protocol}://`}${host}.`];
  return [
    `A folder answers with its ${index}.`,
    ...(error === '' ? [] : [`Errors show ${error}.`]),
    ...(rules.length === 0 ? [] : [`${rules.length} routing ${rules.length === 1 ? 'rule applies' : 'rules apply'}.`]),
  ];
}

interface WebsiteDialogProps extends EditorProps<Website | null> {
  readonly website: Website | null;
}

function WebsiteDialog({ website, pending, error, onSave, onClose }: WebsiteDialogProps) {
  const [kind, setKind] = useState<string>(website?.kind ?? 'none');
  const [edited, setEdited] = useState(website ?? initial);
  const text = (field: 'index' | 'error' | 'host') => ({
    value: edited[field],
    spellCheck: false,
    autoCapitalize: 'none',
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setEdited({ ...edited, [field]: event.currentTarget.value }),
  });
  return (
    <FormDialog
      title="The website of the bucket"
      submit="Save website"
      pending={pending}
      error={error}
      onSubmit={() => onSave(kind === 'none' ? null : { ...edited, kind: kind === 'redirect' ? 'redirect' : 'site' })}
      onClose={onClose}
    >
      <Select
        label="What it answers"
        allowDeselect={false}
        data={[
          { value: 'none', label: 'Nothing: no website' },
          { value: 'site', label: 'The objects of the bucket' },
          { value: 'redirect', label: 'A redirect to another host' },
        ]}
        value={kind}
        onChange={(value) => setKind(value ?? 'none')}
      />
      {kind === 'site' && (
        <>
          <TextInput label="Page of a folder" required withAsterisk={false} {...text('index')} />
          <TextInput
            label="Page of errors"
            description="The key of an object, for example 404.html. Empty: the text of the server."
            {...text('error')}
          />
          {edited.rules.length > 0 && (
            <Text size="sm" c="dimmed">
              Its routing rules ({edited.rules.length}) stay as they are; change them with an S3 client.
            </Text>
          )}
        </>
      )}
      {kind === 'redirect' && (
        <>
          <TextInput label="Host" placeholder="www.example.com" required withAsterisk={false} {...text('host')} />
          <Select
            label="Protocol"
            allowDeselect={false}
            data={[
              { value: '', label: 'That of the request' },
              { value: 'https', label: 'https' },
              { value: 'http', label: 'http' },
            ]}
            value={edited.protocol}
            onChange={(protocol) => setEdited({ ...edited, protocol: protocol ?? '' })}
          />
        </>
      )}
    </FormDialog>
  );
}

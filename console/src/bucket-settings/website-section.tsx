import { Alert, Select, Text, TextInput } from '@mantine/core';
import { FormDialog } from '../components/form-dialog.tsx';
import { type EditorProps, SettingSection } from './setting-section.tsx';
import { emptyWebsite, routingRules, useSetWebsite, useWebsite, type Website } from './website-queries.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface WebsiteSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

/** Shows how the bucket answers as a website. */
export function WebsiteSection({ bucket, mayEdit }: WebsiteSectionProps) {
  const website = useWebsite(bucket);
  const set = useSetWebsite(bucket);
  return (
    <SettingSection
      draft="website"
      title={t.bucketSettings.website}
      words={t.bucketSettings.pagesOfTheBucketAtTheAddress}
      edit={t.bucketSettings.editTheWebsite}
      what={t.bucketSettings.theWebsiteCannotBeShown}
      mayEdit={mayEdit}
      query={website}
      set={set}
      saved={(next) =>
        next === null ? t.bucketSettings.theBucketIsNoWebsiteAnyMore : t.bucketSettings.theWebsiteIsSaved
      }
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
  if (website === null) return [t.bucketSettings.theBucketIsNoWebsite];
  const { kind, index, error, host, protocol } = website;
  const rules = routingRules(website);
  if (kind === 'redirect')
    return [say(t.bucketSettings.allRequestsAreSentTo, { protocol: protocol === '' ? '' : `${protocol}://`, host })];
  return [
    say(t.bucketSettings.aFolderAnswersWithIts, { index }),
    ...(error === '' ? [] : [say(t.bucketSettings.errorsShow, { error })]),
    ...(rules === 0 ? [] : [say(t.bucketSettings.routingRulesApply, { rules: rules })]),
  ];
}

interface WebsiteDialogProps extends EditorProps<Website | null> {
  readonly website: Website | null;
}

function WebsiteDialog({ website, pending, error, onSave, onClose }: WebsiteDialogProps) {
  const [kind, setKind] = useDraft<string>('website.kind', website?.kind ?? 'none');
  const [edited, setEdited] = useDraft('website.edited', website ?? emptyWebsite);
  const rules = routingRules(edited);
  const text = (field: 'index' | 'error' | 'host') => ({
    value: edited[field],
    spellCheck: false,
    autoCapitalize: 'none',
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setEdited({ ...edited, [field]: event.currentTarget.value }),
  });
  return (
    <FormDialog
      title={t.bucketSettings.theWebsiteOfTheBucket}
      submit={t.bucketSettings.saveWebsite}
      pending={pending}
      error={error}
      onSubmit={() => onSave(kind === 'none' ? null : { ...edited, kind: kind === 'redirect' ? 'redirect' : 'site' })}
      onClose={onClose}
    >
      <Select
        label={t.bucketSettings.whatItAnswers}
        allowDeselect={false}
        data={[
          { value: 'none', label: t.bucketSettings.nothingNoWebsite },
          { value: 'site', label: t.bucketSettings.theObjectsOfTheBucket },
          { value: 'redirect', label: t.bucketSettings.aRedirectToAnotherHost },
        ]}
        value={kind}
        onChange={(value) => setKind(value ?? 'none')}
      />
      {kind === 'site' && (
        <>
          <TextInput label={t.bucketSettings.pageOfAFolder} required withAsterisk={false} {...text('index')} />
          <TextInput
            label={t.bucketSettings.pageOfErrors}
            description={t.bucketSettings.theKeyOfAnObjectForExample}
            {...text('error')}
          />
          {rules > 0 && (
            <Text size="sm" c="dimmed">
              {say(t.bucketSettings.itsRoutingRulesStayAsTheyAre, { rules })}
            </Text>
          )}
        </>
      )}
      {kind === 'redirect' && (
        <>
          {rules > 0 && <Alert color="yellow">{say(t.bucketSettings.itsRoutingRulesAreRemoved, { rules })}</Alert>}
          <TextInput
            label={t.bucketSettings.host}
            placeholder="www.example.com"
            required
            withAsterisk={false}
            {...text('host')}
          />
          <Select
            label={t.bucketSettings.protocol}
            allowDeselect={false}
            data={[
              { value: '', label: t.bucketSettings.thatOfTheRequest },
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

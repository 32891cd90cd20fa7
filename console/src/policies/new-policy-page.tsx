import { Button, Group, TextInput } from '@mantine/core';
import type { SubmitEvent } from 'react';
import { useNavigate } from 'react-router';
import { useSavePolicy } from '../api/policies.ts';
import { DetailPage } from '../components/detail-page.tsx';
import { fieldError, FormError } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { policyUrl } from '../components/urls.ts';
import { exampleDocument } from './example-document.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function NewPolicyPage() {
  const save = useSavePolicy();
  const navigate = useNavigate();
  const [name, setName] = useDraft('name', '');
  const [document, setDocument] = useDraft('document', exampleDocument);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    save.mutate(
      { name: name.trim(), document, expects: null },
      {
        onSuccess: (policy) => {
          notifyDone(say(t.policies.isSaved, { name: policy.name }));
          void navigate(policyUrl(policy.name));
        },
      },
    );
  }

  return (
    <form onSubmit={submit}>
      <DetailPage parent={{ name: t.labels.policies, to: '/policies' }} title={t.policies.newPolicy}>
        <TextInput
          label={t.labels.name}
          maw={440}
          description={t.policies.withoutCommasTheNameOfABuilt}
          required
          withAsterisk={false}
          autoFocus
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={128}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(save.error, 'name')}
        />
        <PolicyEditor value={document} onChange={setDocument} />
        {/* The editor shows the errors of the document. */}
        <FormError error={save.error} fields={['name', 'policy']} />
        <Group gap="xs">
          <Button type="submit" loading={save.isPending}>
            {t.policies.savePolicy}
          </Button>
          <Button variant="default" onClick={() => void navigate('/policies')}>
            {t.labels.cancel}
          </Button>
        </Group>
      </DetailPage>
    </form>
  );
}

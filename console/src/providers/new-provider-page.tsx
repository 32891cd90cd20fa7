import { TextInput } from '@mantine/core';
import { useNavigate, useSearchParams } from 'react-router';
import { useAddProvider, useProviders } from '../api/providers.ts';
import { DetailPage } from '../components/detail-page.tsx';
import { Failure, notifyDone } from '../components/feedback.tsx';
import { fieldError } from '../components/form-dialog.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { providerUrl } from '../components/urls.ts';
import { ProviderForm } from './provider-form.tsx';
import { kindName } from './providers-page.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function NewProviderPage() {
  const [search] = useSearchParams();
  const type = search.get('type') ?? 'openid';
  const providers = useProviders();
  const add = useAddProvider(type);
  const navigate = useNavigate();
  const [name, setName] = useDraft('name', '');
  const kind = providers.data?.kinds.find((one) => one.type === type);
  if (providers.isPending) return <LoadingRows />;
  if (providers.isError) return <Failure what={t.providers.theFormCannotBeShown} error={providers.error} />;
  if (kind === undefined)
    return (
      <Failure what={t.providers.theFormCannotBeShown} error={new Error(say(t.providers.thereIsNoType, { type }))} />
    );
  // The only configuration of a type has no name.
  const id = kind.multiple ? name.trim() : '_';
  return (
    <DetailPage
      parent={{ name: t.labels.identityProviders, to: '/identity-providers' }}
      title={say(t.providers.newProvider, { type: kindName(type) })}
    >
      <ProviderForm
        kind={kind}
        id={{ type, name: id === '' ? '_' : id }}
        known={{}}
        submit={t.providers.addProvider}
        pending={add.isPending}
        error={add.error}
        fields={['name']}
        recipes={type === 'openid'}
        onSubmit={({ values }) =>
          add.mutate(
            { name: id, values },
            {
              onSuccess: () => {
                notifyDone(say(t.providers.isAddedAndInEffect, { id }));
                void navigate(providerUrl(type, id));
              },
            },
          )
        }
        onCancel={() => void navigate('/identity-providers')}
      >
        {kind.multiple && (
          <TextInput
            label={t.labels.name}
            description={t.providers.lettersDigitsAndItCannotBeChanged}
            required
            withAsterisk={false}
            autoFocus
            spellCheck={false}
            autoComplete="off"
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError(add.error, 'name')}
          />
        )}
      </ProviderForm>
    </DetailPage>
  );
}

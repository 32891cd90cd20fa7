import { Alert, Button } from '@mantine/core';
import { IconLock, IconPencil, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { DeleteButton } from '../components/edit-buttons.tsx';
import type { ProviderAnswer, ProviderKind } from '../../../protocol/console/provider-answers.ts';
import {
  useEnableProvider,
  useProvider,
  useProviders,
  useChangeProvider,
  type ProviderName,
  useRemoveProvider,
} from '../api/providers.ts';
import { DetailPage, Fact, Facts, Loaded, LoadedPage, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { ProviderForm } from './provider-form.tsx';
import { State } from './provider-state.tsx';
import { shownName } from './providers-page.tsx';
import { ProviderTestSection } from './provider-test.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function ProviderPage() {
  const [search] = useSearchParams();
  const id = { type: search.get('type') ?? 'openid', name: search.get('name') ?? '_' };
  const providers = useProviders();
  const provider = useProvider(id);
  return (
    <LoadedPage
      title={shownName(id.name)}
      parent={parent}
      what={say(t.labels.cannotBeShown, { name: id.name })}
      query={provider}
    >
      {(found) => (
        <Loaded what={say(t.labels.cannotBeShown, { name: id.name })} query={providers}>
          {({ kinds }) => {
            const kind = kinds.find((one) => one.type === id.type);
            if (kind === undefined) return <LoadingRows />;
            // The state changes without a change of the configuration. Only the list is loaded again and again.
            const state = kind.configurations.find((one) => one.name === id.name)?.state ?? found.state;
            return <Details key={`${id.type} ${id.name}`} id={id} kind={kind} provider={{ ...found, state }} />;
          }}
        </Loaded>
      )}
    </LoadedPage>
  );
}

const parent = { name: t.labels.identityProviders, to: '/identity-providers' };

interface DetailsProps {
  readonly id: ProviderName;
  readonly kind: ProviderKind;
  readonly provider: ProviderAnswer;
}

function Details({ id, kind, provider }: DetailsProps) {
  const [editing, setEditing] = useDraft('editing', false);
  const fixed = provider.origin === 'environment';
  const isBadge = provider.state.kind === 'ready' || provider.state.kind === 'off';
  if (editing) {
    return (
      <DetailPage parent={parent} title={shownName(id.name)}>
        <Edit id={id} kind={kind} provider={provider} onDone={() => setEditing(false)} />
      </DetailPage>
    );
  }
  return (
    <DetailPage
      parent={parent}
      title={shownName(id.name)}
      badge={isBadge && <State state={provider.state} />}
      actions={!fixed && <Actions id={id} provider={provider} onEdit={() => setEditing(true)} />}
    >
      {fixed && (
        <Alert color="gray" icon={<IconLock size={18} />} title={t.providers.readOnly}>
          {t.providers.environmentVariablesOfTheServerSetIt}
        </Alert>
      )}
      {!isBadge && <State state={provider.state} />}
      {kind.testable && <ProviderTestSection id={id} />}
      <Section title={t.labels.settings} words={t.providers.settingsThatAreNotListedHaveTheir}>
        <Facts>
          <Fact name={t.providers.roleArn} mono>
            {provider.roleArn}
          </Fact>
          {Object.entries(provider.values).map(([key, value]) => (
            <Fact key={key} name={key} mono>
              {value}
            </Fact>
          ))}
        </Facts>
      </Section>
    </DetailPage>
  );
}

interface ActionsProps {
  readonly id: ProviderName;
  readonly provider: ProviderAnswer;
  readonly onEdit: () => void;
}

function Actions({ id, provider, onEdit }: ActionsProps) {
  const enable = useEnableProvider();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const on = provider.enabled;

  function toggle(): void {
    enable.mutate(
      { ...id, enabled: !on },
      {
        onSuccess: () =>
          notifyDone(
            on ? say(t.providers.isSwitchedOff, { name: id.name }) : say(t.providers.isSwitchedOn, { name: id.name }),
          ),
        onError: (error) =>
          notifyFailure(
            on
              ? say(t.providers.staysSwitchedOn, { name: id.name })
              : say(t.providers.staysSwitchedOff, { name: id.name }),
            error,
          ),
      },
    );
  }

  return (
    <>
      <Button leftSection={<IconPencil size={16} />} onClick={onEdit}>
        {t.labels.edit}
      </Button>
      <Button
        variant="default"
        loading={enable.isPending}
        leftSection={on ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
        onClick={toggle}
      >
        {on ? t.labels.disable : t.labels.enable}
      </Button>
      <DeleteButton label={t.providers.remove} onClick={() => setRemoving(true)} />
      {removing && (
        <RemoveProviderDialog
          id={id}
          onClose={() => setRemoving(false)}
          onRemoved={() => void navigate('/identity-providers')}
        />
      )}
    </>
  );
}

function Edit({ id, kind, provider, onDone }: DetailsProps & { readonly onDone: () => void }) {
  const save = useChangeProvider(id);
  return (
    <ProviderForm
      kind={kind}
      id={id}
      known={provider.values}
      submit={t.labels.save}
      pending={save.isPending}
      error={save.error}
      onSubmit={({ changes }) => {
        if (Object.keys(changes).length === 0) {
          onDone();
          return;
        }
        save.mutate(changes, {
          onSuccess: () => {
            notifyDone(say(t.providers.isSavedAndInEffect, { name: id.name }));
            onDone();
          },
        });
      }}
      onCancel={onDone}
    />
  );
}

interface RemoveProviderDialogProps {
  readonly id: ProviderName;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

function RemoveProviderDialog({ id, onClose, onRemoved }: RemoveProviderDialogProps) {
  return (
    <RemoveDialog
      title={say(t.providers.removeTheProvider, { name: id.name })}
      submit={t.providers.removeProvider}
      remove={useRemoveProvider()}
      what={id}
      done={say(t.providers.isRemoved, { name: id.name })}
      onDone={onRemoved}
      onClose={onClose}
    >
      {t.providers.peopleCannotSignInByItAny}
    </RemoveDialog>
  );
}

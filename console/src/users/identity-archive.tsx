import { Alert, Button, FileInput, Group, Menu, Stack, Text } from '@mantine/core';
import { IconDots, IconDownload, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { admin, adminResponse } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The report of an import in the form of MinIO. */
interface ImportReport {
  readonly added: Readonly<Record<string, readonly unknown[]>>;
  readonly reasons: readonly string[];
}

/** Takes all identities out as an archive, and brings them in. `mc admin cluster iam` reads and writes the same. */
export function IdentityArchiveMenu() {
  const { may } = useRights();
  const [importing, setImporting] = useState(false);
  const exported = useApiMutation(async () => {
    const blob = await (await adminResponse('GET', 'export-iam')).blob();
    save(blob, 'identities.zip');
  }, []);
  if (!may('admin:ExportIAM') && !may('admin:ImportIAM')) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            className="icon-on-phone"
            aria-label={t.users.allIdentities}
            leftSection={<IconDots size={16} />}
            loading={exported.isPending}
          >
            {t.users.allIdentities}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {may('admin:ExportIAM') && (
            <Menu.Item
              leftSection={<IconDownload size={15} />}
              onClick={() =>
                exported.mutate(undefined, {
                  onSuccess: () => notifyDone(t.users.theArchiveIsDownloadedItHasSecret),
                  onError: (error) => notifyFailure(t.users.theIdentitiesCannotBeExported, error),
                })
              }
            >
              {t.users.exportAsAnArchive}
            </Menu.Item>
          )}
          {may('admin:ImportIAM') && (
            <Menu.Item leftSection={<IconUpload size={15} />} onClick={() => setImporting(true)}>
              {t.users.importAnArchive}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
    </>
  );
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const imported = useApiMutation(
    (archive: File) => admin<ImportReport>('PUT', 'import-iam-v2', { body: archive }),
    ['users', 'user', 'groups', 'group', 'policies', 'policy', 'access-keys', 'session'],
  );

  function submit(): void {
    if (imported.isSuccess) onClose();
    else if (file !== null) imported.mutate(file);
  }

  return (
    <FormDialog
      title={t.users.importIdentities}
      submit={imported.isSuccess ? t.labels.close : t.users.import}
      pending={imported.isPending}
      error={imported.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {imported.isSuccess ? (
        <Report report={imported.data} />
      ) : (
        <>
          <Text size="sm">{t.users.usersGroupsPoliciesAccessKeysAndTheir}</Text>
          <FileInput
            label={t.users.archive}
            placeholder={t.users.aZipFile}
            accept=".zip,application/zip"
            required
            withAsterisk={false}
            value={file}
            onChange={setFile}
          />
        </>
      )}
    </FormDialog>
  );
}

const kinds: Readonly<Record<string, string>> = {
  policies: t.users.policiesWord,
  users: t.users.users,
  groups: t.users.groups,
  serviceAccounts: t.users.accessKeys,
  userPolicies: t.users.attachmentsToUsers,
  groupPolicies: t.users.attachmentsToGroups,
  stsPolicies: t.users.attachmentsToExternalUsers,
};

function Report({ report: { added, reasons } }: { readonly report: ImportReport }) {
  const parts = Object.entries(added).map(([kind, names]) => `${names.length} ${kinds[kind] ?? kind}`);
  return (
    <Stack gap="sm" role="status">
      <Text size="sm">
        {parts.length === 0 ? t.users.nothingWasImported : say(t.users.imported, { parts: parts.join(', ') })}
      </Text>
      {reasons.length > 0 && (
        <Alert color="yellow" title={say(t.users.notImported, { reasons: reasons.length })}>
          <Group gap={4}>
            {reasons.slice(0, 20).map((reason) => (
              <Text size="sm" key={reason} style={{ overflowWrap: 'anywhere' }}>
                {reason}
              </Text>
            ))}
          </Group>
        </Alert>
      )}
    </Stack>
  );
}

import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { DirectoryForm } from './directory-form.tsx';
import { KeysForm } from './keys-form.tsx';

type Way = 'directory' | 'keys';

/** Who types chooses to whom it goes: what is given for one is never tried at the other. People come first, keys are for programs. */
export function NameForms() {
  const [way, setWay] = useState<Way>('directory');
  return (
    <>
      <SegmentedControl
        aria-label="Sign in by"
        fullWidth
        value={way}
        onChange={(chosen) => setWay(chosen === 'keys' ? 'keys' : 'directory')}
        data={[
          { value: 'directory', label: 'Directory' },
          { value: 'keys', label: 'Keys' },
        ]}
      />
      {way === 'directory' ? <DirectoryForm /> : <KeysForm />}
    </>
  );
}

import { useDirectorySignIn } from '../api/session.ts';
import { SignInForm } from './sign-in-form.tsx';

export function DirectoryForm() {
  const signIn = useDirectorySignIn();
  return (
    <SignInForm
      nameLabel="Name"
      secretLabel="Password"
      pending={signIn.isPending}
      error={signIn.error}
      onSubmit={(name, password) => signIn.mutate({ name, password })}
    />
  );
}

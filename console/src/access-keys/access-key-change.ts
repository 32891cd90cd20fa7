import type { AccessKeyAnswer, AccessKeyChange } from '../../../protocol/console/identity-answers.ts';
import { exampleDocument } from '../policies/example-document.ts';
import { isoOf, localText } from '../text/zoned-time.ts';

export interface AccessKeyForm {
  readonly name: string;
  readonly description: string;
  /** The value of a field for a time in the zone of the user; empty for never. */
  readonly expires: string;
  readonly narrow: boolean;
  readonly policy: string;
}

export const emptyKeyForm: AccessKeyForm = {
  name: '',
  description: '',
  expires: '',
  narrow: false,
  policy: exampleDocument,
};

type Known = Pick<AccessKeyAnswer, 'name' | 'description' | 'expires' | 'policy'>;

export function accessKeyForm(
  { name = '', description = '', expires = '', policy }: Known,
  zone: string,
): AccessKeyForm {
  return {
    name,
    description,
    expires: localText(expires, zone),
    narrow: policy !== undefined,
    policy: policy?.document ?? exampleDocument,
  };
}

/** Undefined for never. The server refuses by name what is no time, so that no key lasts for want of one. */
export function expiryOf({ expires }: AccessKeyForm, zone: string): string | undefined {
  return expires === '' ? undefined : (isoOf(expires, zone) ?? expires);
}

/** Returns what a form changes; undefined where it changes nothing. A field that the user did not touch is not sent. */
export function accessKeyChange(known: Known, form: AccessKeyForm, zone: string): AccessKeyChange | undefined {
  const begun = accessKeyForm(known, zone);
  const policyOf = ({ narrow, policy }: AccessKeyForm) => (narrow ? policy : null);
  const change: AccessKeyChange = {
    ...(form.name !== begun.name && { name: form.name === '' ? null : form.name }),
    ...(form.description !== begun.description && { description: form.description === '' ? null : form.description }),
    // An unchanged expiration keeps its milliseconds, which the field does not have.
    ...(form.expires !== begun.expires && { expires: expiryOf(form, zone) ?? null }),
    ...(policyOf(form) !== policyOf(begun) && { policy: policyOf(form) }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

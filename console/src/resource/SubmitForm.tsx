import type { ReactNode } from 'react';
import { ApiProblem, type Form as FormState } from '../api/index.ts';
import { Button, Form, Problem } from '../ui/index.ts';
import { DiscardButton } from './DiscardButton.tsx';

/** The problems of a form that none of its fields shows. A conflict has a dialog of its own. */
export const FormProblems = <V extends object>({ form }: { form: FormState<V> }) => (
  <>
    {form.otherFaults.length > 0 && (
      <Problem error={new ApiProblem(422, { details: form.otherFaults, message: '' })} />
    )}
    {form.error && !form.conflict && <Problem error={form.error} />}
  </>
);

export const SubmitForm = <V extends object>({
  form,
  submit,
  busy = form.busy,
  onSubmit = () => void form.submit(),
  actions,
  discard,
  side,
  children,
}: {
  form: FormState<V>;
  submit: string;
  busy?: boolean;
  onSubmit?: () => void;
  actions?: ReactNode;
  discard?: string;
  side?: ReactNode;
  children: ReactNode;
}) => (
  <Form
    onSubmit={onSubmit}
    side={side}
    actions={
      <>
        <Button type="submit" kind="primary" busy={busy} disabledReason={form.disabledReason}>
          {submit}
        </Button>
        {actions}
        {discard && <DiscardButton href={discard} />}
      </>
    }
  >
    {children}
    <FormProblems form={form} />
  </Form>
);

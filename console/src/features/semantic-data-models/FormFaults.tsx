import { ApiProblem, type Form } from '../../api/index.ts';
import { Problem } from '../../ui/index.ts';

/** What was refused that belongs to no field of the form. */
export const FormFaults = <T extends object>({ form }: { form: Form<T> }) =>
  form.otherFaults.length > 0 && (
    <Problem error={new ApiProblem(422, { details: form.otherFaults, message: '' })} />
  );

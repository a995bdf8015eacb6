import { useState } from 'react';
import { ApiProblem, type Form } from '../../api/index.ts';
import type { DataConnectionTestResult } from '../../api/types.gen.ts';
import { Problem } from '../../ui/index.ts';
import type { ConnectionValues } from './values.ts';

export type Tried = Pick<DataConnectionTestResult, 'ok' | 'steps'> & Partial<DataConnectionTestResult>;

/** The result of the last test, or the steps of a save that was refused because the database cannot be read. */
export const useTried = () => {
  const [tried, setTried] = useState<Tried | null>(null);
  const keepSteps = async <T,>(saving: Promise<T>): Promise<T> => {
    setTried(null);
    try {
      return await saving;
    } catch (error) {
      const steps = error instanceof ApiProblem ? error.fields.steps : undefined;
      if (Array.isArray(steps)) setTried({ ok: false, steps });
      throw error;
    }
  };
  return { tried, setTried, keepSteps };
};

/** Why the form was refused, for what belongs to none of its fields. */
export const FormProblems = ({ form }: { form: Form<ConnectionValues> }) => (
  <>
    {form.otherFaults.length > 0 && (
      <Problem error={new ApiProblem(422, { details: form.otherFaults, message: '' })} />
    )}
    {form.error && !form.conflict && <Problem error={form.error} />}
  </>
);

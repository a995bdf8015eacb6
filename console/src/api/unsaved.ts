import { useEffect, useEffectEvent } from 'react';

/** The forms on the page, each as a function that tells if it has unsaved changes. */
const forms = new Set<() => boolean>();

let discarding = false;

export const hasUnsaved = (): boolean => !discarding && [...forms].some((isUnsaved) => isUnsaved());

/** The person leaves a form by its own "Discard": the next step is not a question. */
export const discardUnsaved = (): void => {
  discarding = true;
  setTimeout(() => {
    discarding = false;
  });
};

/** Drops unsaved texts after another person has signed in. */
export const forgetUnsaved = (): void => forms.clear();

/** Counts a form among those that are asked before the person leaves the page. */
export const useUnsaved = (isUnsaved: () => boolean): void => {
  const ask = useEffectEvent(isUnsaved);
  useEffect(() => {
    const form = () => ask();
    forms.add(form);
    return () => {
      forms.delete(form);
    };
  }, []);
};

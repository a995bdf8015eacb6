import { Fragment, type ReactNode } from 'react';
import { isolate } from '../text/isolate.ts';

const isolated = (value: ReactNode): ReactNode => (typeof value === 'string' ? isolate(value) : value);

/**
 * A text with elements in the places that it names: `<Words text="Changed {at}." at={<Time … />} />`. What stands in a
 * place does not move the words next to it, whatever its direction.
 */
export const Words = ({ text, ...places }: { text: string } & Record<string, ReactNode>) =>
  text.split(/(\{\w+\})/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their places.
    <Fragment key={index}>{/^\{\w+\}$/.test(part) ? isolated(places[part.slice(1, -1)]) : part}</Fragment>
  ));

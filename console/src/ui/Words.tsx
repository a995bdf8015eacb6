import { Fragment, type ReactNode } from 'react';

/** A text with elements in the places that it names: `<Words text="Changed {at}." at={<Time … />} />`. */
export const Words = ({ text, ...places }: { text: string } & Record<string, ReactNode>) =>
  text.split(/(\{\w+\})/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their places.
    <Fragment key={index}>{/^\{\w+\}$/.test(part) ? places[part.slice(1, -1)] : part}</Fragment>
  ));

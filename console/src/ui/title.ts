import { createContext, useContext } from 'react';

/** Sets the title of the window: what is known of the page, the most telling part first. */
export type SetTitle = (parts: readonly (string | undefined)[]) => void;

export const TitleContext = createContext<SetTitle>(() => {});

export const useTitle = (): SetTitle => useContext(TitleContext);

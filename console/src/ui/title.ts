import { createContext, useContext } from 'react';

/** Sets the title of the window: what is known of the page, the most telling part first. */
export type SetTitle = (parts: readonly (string | undefined)[]) => void;

/** The shell provides it, because it adds the count of Review and the name of the workspace. */
export const TitleContext = createContext<SetTitle>(() => {});

/** Returns the function that sets the title of the window. */
export const useTitle = (): SetTitle => useContext(TitleContext);

export const downloadText = (text: string, name: string, type = 'application/json'): void => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
};

/** Saves what the platform sends for an address of its own, however large it is. */
export const downloadFrom = (address: string): void =>
  Object.assign(document.createElement('a'), { href: address, download: '' }).click();

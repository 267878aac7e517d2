/** Version of the controller: the package's own. */
export const release = '0.1.0';

/** What `docker build` of `images/controller` is told to be called; a registry of one's own is named by the option `image`. */
export const defaultImage = `plumbline-controller:${release}`;

/** The user of the image. */
export const imageUser = 65532;

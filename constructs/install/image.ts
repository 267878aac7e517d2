/** Version of the controller: the package's own. */
export const release = '0.1.0';

/** What `docker build` of `images/controller` is told to be called; a registry of one's own is named by the option `image`. */
export const defaultImage = `plumbline-controller:${release}`;

/** The same with git, which the delivery to Git runs. */
export const defaultImageWithGit = `${defaultImage}-git`;

/** The user of both. */
export const imageUser = 65532;

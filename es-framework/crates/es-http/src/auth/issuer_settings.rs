//! The settings of the issuer of tokens.

/// A token issuer, the audience that its tokens must have, and the claims that contain the roles and the owner id.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    pub issuer: String,
    pub audience: String,
    pub roles_claim: String,
    pub owner_claim: String,
}

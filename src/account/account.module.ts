import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from './account.entity.js';
import { AccountService } from './account.service.js';
import { AccountStore } from './account.store.js';
import { AccountKeyEntity } from './account-key.entity.js';
import { AccountKeyService } from './account-key.service.js';
import { AccountKeyStore } from './account-key.store.js';
import { IdentityService } from './identity.service.js';
import { MemberEntity } from './member.entity.js';
import { MemberService } from './member.service.js';
import { MemberStore } from './member.store.js';
import { PasswordHasher } from './password-hasher.js';

/** The tenant: accounts, their members and keys. */
@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, MemberEntity, AccountKeyEntity])],
  providers: [
    AccountService,
    MemberService,
    IdentityService,
    AccountKeyService,
    PasswordHasher,
    AccountStore,
    MemberStore,
    AccountKeyStore,
  ],
  exports: [AccountService, MemberService, IdentityService, AccountKeyService, PasswordHasher],
})
export class AccountModule {}
